"""Many runs: `cd.members` draws them, `cd.sweep` runs them here, in processes or on a cluster."""
