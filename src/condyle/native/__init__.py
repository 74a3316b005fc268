"""Compilation of expressions to machine code. Contains no mechanics."""
