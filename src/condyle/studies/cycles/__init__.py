"""Limit cycles: periodic motions and their stability."""
