"""Unilateral constraints in a run: docs/theory/rigid_contact.md.

`contact_rows` has the solver's input at a state, `impact` the jump of velocities, `contacts` the constraints
that hold afterward. The run watches their gaps, forces, friction cones and slips:
interrupts/rigid_contacts.py.
"""
