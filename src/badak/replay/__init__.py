"""Recording a step and replaying it without its Python: what stands behind badak.compile.

Reading order: compiled.py, recorder.py, entries.py, native.py; origins.py says how arrays are named.
"""

from badak.replay.compiled import Compiled as Compiled
