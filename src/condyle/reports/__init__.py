"""Reports: what a motion says, as one page that needs nothing else."""
