"""What Tensor has from the table of public names, for editors and type checkers: `interface.pyi`, written by `tools/stubs.py`."""


class Methods:
    """Empty when it is made; `methods.py` gives the methods to Tensor once all families of functions are there."""
