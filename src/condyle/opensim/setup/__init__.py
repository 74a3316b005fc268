"""Setup files of OpenSim's tools, run as they are: `condyle run SETUP.xml`.

run.py           the function for each tool, and the order in which files depend on each other
*_tool.py        one per tool; each has a function `run(setup)`
setup_file.py    Setup: content of a file, paths of other files, writing of results; Report
inputs.py        the motion that a file names, filtered as OpenSim filters; external loads
controls.py      controls over time
file_columns.py  order, units and labels of coordinates and states in files
trial.py AnalysisTrial: common data of analyses; analyses.py, force_report.py, induced.py, output_report.py
equilibrium.py   fibers in equilibrium as in OpenSim
"""

from condyle.opensim.setup.run import run_setup

__all__ = ["run_setup"]
