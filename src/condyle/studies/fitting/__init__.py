"""Parameters from measurements: `cd.fit_parameters`.

residuals.py    what is measured, and how the model says it: operators, functions of the state, forces, markers
runs.py         the same along runs, in one shot or in several
fit.py          the least squares
result.py       values, standard errors, and what the measurements do not say
"""
