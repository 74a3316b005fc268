"""Constraints that act one way in a run: docs/theory/rigid_contact.md.

`numbers` has what a solver needs at a state, `impact` what happens at once, `contacts` which of them hold
from then on, `watch` the witnesses of all this: gaps, forces, the edges of friction cones, slips.
"""
