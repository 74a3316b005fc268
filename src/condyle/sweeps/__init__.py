"""Many runs: `cd.members` draws the members, `cd.sweep` runs them locally, in processes or on a cluster."""
