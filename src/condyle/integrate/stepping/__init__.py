"""Time stepping: rigid contacts with fixed steps, without events, for many at once. docs/theory/stepping.md.

`method` is the integrator. `program` is the native program of a run, in which `free_bodies` and `trees` say how
bodies move; `crowd` finds which surfaces may come near each other, `closest_points` where they touch; `run` runs
it.
"""
