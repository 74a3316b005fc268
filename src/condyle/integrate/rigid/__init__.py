"""Constraints that act one way in a run: docs/theory/rigid_contact.md.

`contact_rows` has what a solver needs at a state, `impact` what happens at once, `contacts` which of them hold
from then on. The run watches their gaps, forces, friction cones and slips: interrupts/rigid_contacts.py.
"""
