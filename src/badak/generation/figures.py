"""What pictures are drawn with: matplotlib, an extra, as it is by itself or as the user set it up, not as a folder says."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from badak.core.errors import NotSupportedError, tr
from badak.core.signals import uninterrupted
from badak.io.errors import reason


@contextmanager
def figures() -> Iterator[Any]:
    """Within the block: the class Figure of matplotlib. NotSupportedError where it cannot be loaded.

    A file `matplotlibrc` in the current folder counts for nothing: it may ask for programs that are started to draw a text.
    """
    try:
        with uninterrupted():  # an import that is cut in two turns Ctrl-C into other errors
            import matplotlib
            from matplotlib.backends import backend_agg  # noqa: F401
            from matplotlib.figure import Figure
    except ImportError:
        raise NotSupportedError("matplotlib is not installed", 'pip install "badak[plot]"') from None
    except Exception as error:  # of a file that it reads at its start
        cause = tr("matplotlib cannot be loaded: {}", reason(error))
        raise NotSupportedError(cause, "see to a matplotlibrc in this folder") from None
    with matplotlib.rc_context():
        if os.path.exists("matplotlibrc"):
            matplotlib.rcdefaults()
        yield Figure
