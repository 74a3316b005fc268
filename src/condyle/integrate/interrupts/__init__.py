"""Interrupters of a run, one file each: see base.py."""
