"""Derivatives of runs: `tape` differentiates the nodes of a step, `program` goes over the rows of a run, forward or
in reverse, `gradients` serves the public methods, `saltation` handles events, `cost_gradient` differentiates
numbers that depend on a run."""
