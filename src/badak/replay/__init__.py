"""Recording a step and replaying it without its Python: what stands behind badak.compile."""

from .compiled import Compiled as Compiled
