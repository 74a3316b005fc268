"""What may interrupt a run, one file each: see base.py."""
