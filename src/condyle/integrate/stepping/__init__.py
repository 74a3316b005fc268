"""Time stepping: rigid contacts with fixed steps, without events, for many at once. docs/theory/stepping.md.

`crowd` finds who is near whom among many surfaces, `rows` has what a step needs of them, or of the
constraints of a system that act one way, `sweeps` solves for the impulses, `method` is the integrator.
"""
