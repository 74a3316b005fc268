"""placeholder"""
from typing import Any
def works() -> bool: return False
def add_call(*a: Any) -> None: pass
def make_builtin(*a: Any) -> Any: return None
