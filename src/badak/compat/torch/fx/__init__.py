"""`torch.fx`: programs as graphs that programs can rewrite.

`node.py` and `graph.py` are the graph and its code, `proxy.py` what stands for a value while `_symbolic_trace.py` runs a module,
`graph_module.py` a module made of a graph, `interpreter.py` what runs or rewrites one, `subgraph_rewriter.py` replaces patterns.
Functions come by `__torch_function__` (`core/public_api/overriding.py`), modules and parameters by events (`core/events.py`).
"""

from badak.compat.torch.fx import _symbolic_trace as _symbolic_trace
from badak.compat.torch.fx import graph as graph
from badak.compat.torch.fx import graph_module as graph_module
from badak.compat.torch.fx import interpreter as interpreter
from badak.compat.torch.fx import node as node
from badak.compat.torch.fx import passes as passes
from badak.compat.torch.fx import proxy as proxy
from badak.compat.torch.fx import subgraph_rewriter as subgraph_rewriter
from badak.compat.torch.fx._symbolic_trace import PH as PH
from badak.compat.torch.fx._symbolic_trace import Tracer as Tracer
from badak.compat.torch.fx._symbolic_trace import symbolic_trace as symbolic_trace
from badak.compat.torch.fx._symbolic_trace import wrap as wrap
from badak.compat.torch.fx.graph import Graph as Graph
from badak.compat.torch.fx.graph_module import GraphModule as GraphModule
from badak.compat.torch.fx.interpreter import Interpreter as Interpreter
from badak.compat.torch.fx.interpreter import Transformer as Transformer
from badak.compat.torch.fx.node import Node as Node
from badak.compat.torch.fx.node import has_side_effect as has_side_effect
from badak.compat.torch.fx.node import map_arg as map_arg
from badak.compat.torch.fx.proxy import Proxy as Proxy
from badak.compat.torch.fx.subgraph_rewriter import replace_pattern as replace_pattern
from badak.core.public_api import door as _door

__getattr__, __dir__ = _door("badak.fx")
