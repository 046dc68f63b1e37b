"""Recording a step and replaying it without its Python: what stands behind badak.compile. docs/compile.md tells it whole.

Reading order: compiled.py, plan.py, recorder.py, entries.py, native.py; origins.py says how arrays are named, surroundings.py
and guards.py what must not change unseen, check.py how replays are compared with running.
"""

from badak.replay.compiled import Compiled as Compiled
