"""Derivatives of runs: `tape` differentiates the nodes of a step, `program` goes over the rows of a run, forward or
in reverse, `gradients` asks it what users ask, `saltation` passes events, `costs` are numbers that depend on a run."""
