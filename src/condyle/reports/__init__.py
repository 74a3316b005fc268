"""Reports: the analysis of a motion as one self-contained page."""
