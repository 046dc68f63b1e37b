"""Recording a step and replaying it without its Python, behind badak.compile. docs/explanation/compile.md tells it whole.

Reading order: compiled.py, plan.py, capture.py, entries.py, native.py; provenance.py says how arrays are named, snapshot.py
and guards.py what must not change unseen, check.py how replays are compared with running.
"""

from badak.compiler.compiled import Compiled as Compiled
from badak.core.public_api import door as _door

__getattr__, __dir__ = _door(__name__, like="badak.compat.torch.compiler")  # torch.compiler
