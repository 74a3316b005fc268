"""The commands, one file each: a module here that decorates a function by `@app.command()` is a command.

They are imported for `--help` too, so that slow imports are inside the functions.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
