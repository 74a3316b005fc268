"""Time stepping: rigid contacts with fixed steps, without events, for many at once. docs/theory/stepping.md.

`method` is the integrator. Free bodies: `crowd` finds who may come near whom, `step` is the native program of
a run with closest points of `nearest`, `boxes` those of boxes, and `free` runs it. Other systems: `rows` has
what a step needs of their constraints that act one way, `sweeps` solves for the impulses, `described` runs.
"""
