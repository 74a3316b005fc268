"""Parameters from measurements: `cd.fit_parameters`.

residuals.py    measured quantities and their model: operators, functions of the state, forces, markers
runs.py         the same along runs, in one shot or in several
fit.py          the least squares
result.py       values, standard errors, and undetermined directions
"""
