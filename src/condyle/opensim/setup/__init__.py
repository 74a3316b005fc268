"""Setup files of OpenSim's tools, run as they are: `condyle run SETUP.xml`.

file.py       Setup: what is written in a file, where other files are, how results are written; Report
motion.py     the motion that a file names, filtered as OpenSim filters
loads.py      external loads
controllers.py  controls over time, for forward runs
run.py        which module runs which tool; each has a function `run(setup)`
"""

from condyle.opensim.setup.run import run_setup

__all__ = ["run_setup"]
