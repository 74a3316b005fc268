"""Expressions to machine code. Knows no mechanics."""
