"""Condyle: dynamics of living things."""
