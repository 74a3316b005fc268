"""Time stepping: methods as data, one step loop, trajectories."""
