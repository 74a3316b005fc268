"""Joints from measurements: frames of two bones, marker clusters, fits of mobilizers to them."""
