"""Robot files: URDF (ROS, Pinocchio, Drake) and MJCF (MuJoCo).

    robot_file.py      common parts of both readers: numbers with lines, notes, solids, rotors, contact
    urdf.py            cd.read_urdf and cd.write_urdf
    mjcf.py            cd.read_mjcf
    mjcf_writer.py     cd.write_mjcf
    joint_sequence.py  a mobilizer as a sequence of hinges and slides, as in these files

A motor's rotor (MuJoCo's armature) is a separate, nearly massless body on ground that follows the coordinate
of its joint, so that it only adds its inertia to the diagonal of the mass matrix.
"""

from condyle.robots.mjcf import read_mjcf
from condyle.robots.mjcf_writer import write_mjcf
from condyle.robots.urdf import read_urdf, write_urdf

__all__ = ["read_mjcf", "read_urdf", "write_mjcf", "write_urdf"]
