"""Cycles: motions that come back to where they began, and what becomes of small disturbances of them."""
