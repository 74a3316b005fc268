"""Mobilizers: what a body may do relative to its parent. One file a family."""
from condyle.mobilizers.base import Mobilizer, Motion, motion, motion_symbols
from condyle.mobilizers.free import Free
from condyle.mobilizers.function_based import FunctionBased
from condyle.mobilizers.lower_pairs import Pin, Slider, Weld

__all__ = ["Free", "FunctionBased", "Mobilizer", "Motion", "Pin", "Slider", "Weld", "motion",
           "motion_symbols"]
