"""Files of robots: URDF (ROS, Pinocchio, Drake) and MJCF (MuJoCo).

    robot_file.py      what both readers ask of an XML file: numbers with lines, notes, solids, rotors, contact
    urdf.py            cd.read_urdf and cd.write_urdf
    mjcf.py            cd.read_mjcf
    mjcf_writer.py     cd.write_mjcf
    joint_sequence.py  a mobilizer as hinges and slides one after the other, which is what these files have

A motor's rotor (MuJoCo's armature) is a body of its own: it hangs on ground, has next to no mass, and follows
the coordinate of its joint, so that it adds its inertia to the diagonal of the mass matrix and nothing else.
"""

from condyle.robots.mjcf import read_mjcf
from condyle.robots.mjcf_writer import write_mjcf
from condyle.robots.urdf import read_urdf, write_urdf

__all__ = ["read_mjcf", "read_urdf", "write_mjcf", "write_urdf"]
