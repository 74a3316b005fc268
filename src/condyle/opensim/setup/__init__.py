"""Setup files of OpenSim's tools, run as they are: `condyle run SETUP.xml`.

run.py           which function runs which tool, and which files need what others write
*_tool.py        one per tool; each has a function `run(setup)`
setup_file.py    Setup: what is written in a file, where other files are, how results are written; Report
inputs.py        the motion that a file names, filtered as OpenSim filters; external loads
controls.py      controls over time
file_columns.py  order, units and labels of coordinates and states in files
trial.py         AnalysisTrial: what analyses share; analyses.py, force_report.py, induced.py, output_report.py
equilibrium.py   fibers in equilibrium as OpenSim finds them
"""

from condyle.opensim.setup.run import run_setup

__all__ = ["run_setup"]
