"""What `import torch` finds in a Python that a program under `badak run` has started: badak stands in there, too."""

import sys

del sys.modules[__name__]  # this very file
import badak.as_torch  # noqa: E402, F401
