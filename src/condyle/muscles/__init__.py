"""Muscles: curves, fibres and tendons, activation."""
