"""Passes over graphs as people write them: fusing, quantising, profiling, taking features out."""

import copy
import operator

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.act = nn.ReLU()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = self.act(self.bn(self.conv(x)))
        return self.head(x.mean((2, 3)))


net = Net()
net.bn.running_mean.uniform_()
net.eval()
x = torch.randn(2, 3, 6, 6)

print("--- 7 convolution and batch norm as one")


def fuse(model):
    model = copy.deepcopy(fx.symbolic_trace(model))
    modules = dict(model.named_modules())
    for node in list(model.graph.nodes):
        if node.op != "call_module" or node.args[0].op != "call_module":
            continue
        bn, conv = modules[node.target], modules[node.args[0].target]
        if not isinstance(bn, nn.BatchNorm2d) or not isinstance(conv, nn.Conv2d) or len(node.args[0].users) > 1:
            continue
        scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
        conv.weight = nn.Parameter(conv.weight * scale.reshape(-1, 1, 1, 1))
        conv.bias = nn.Parameter((conv.bias - bn.running_mean) * scale + bn.bias)
        node.replace_all_uses_with(node.args[0])
        model.graph.erase_node(node)
    model.delete_all_unused_submodules()
    model.recompile()
    return model


fused = fuse(net)
print(fused.code, sorted(name for name, _ in fused.named_children()), torch.allclose(fused(x), net(x), atol=1e-5))

print("--- 8 observers after every activation")


class Observer(nn.Module):
    def __init__(self):
        super().__init__()
        self.low, self.high = float("inf"), float("-inf")

    def forward(self, x):
        self.low, self.high = min(self.low, x.min().item()), max(self.high, x.max().item())
        return x


observed = fx.symbolic_trace(net)
for node in list(observed.graph.nodes):
    if node.op == "call_module":
        name = f"{node.name}_observer"
        observed.add_submodule(name, Observer())
        with observed.graph.inserting_after(node):
            new = observed.graph.call_module(name, (node,))
        node.replace_all_uses_with(new)
        new.args = (node,)
observed.recompile()
observed(x)
print(observed.code, f"{observed.act_observer.low:.4f} {observed.act_observer.high:.4f}")

print("--- 9 an interpreter that counts")


class Counter(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.sizes = {}

    def run_node(self, n):
        result = super().run_node(n)
        self.sizes[n.name] = result.numel()
        return result


counter = Counter(fx.symbolic_trace(net))
counter.run(x)
print(counter.sizes)

print("--- 10 a transformer that changes functions, a pattern that is replaced")


class Softer(fx.Transformer):
    def call_function(self, target, args, kwargs):
        if target is torch.relu:
            target = torch.tanh
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        if target == "neg":
            x, *rest = args
            return torch.abs(x)
        return super().call_method(target, args, kwargs)


traced = fx.symbolic_trace(lambda x: torch.relu(x).neg() + x)
print(Softer(traced).transform().code)


def pattern(a, b):
    return torch.add(torch.relu(a), b)


def replacement(a, b):
    return torch.sigmoid(a) * b


def program(x, y):
    first = torch.add(torch.relu(x), y)
    return torch.add(torch.relu(first), y) - x


traced = fx.symbolic_trace(program)
matches = fx.replace_pattern(traced, pattern, replacement)
print(len(matches), [m.anchor.name for m in matches], traced.code)
print(traced(torch.ones(2), torch.full((2,), 3.0)))

print("--- 11 features, and shapes")


def extract(model, names):
    graph_module = fx.symbolic_trace(model)
    output = next(node for node in graph_module.graph.nodes if node.op == "output")
    found = {node.name: node for node in graph_module.graph.nodes if node.name in names}
    graph_module.graph.erase_node(output)
    graph_module.graph.output(found)
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()
    graph_module.delete_all_unused_submodules()
    return graph_module


features = extract(net, ["act", "conv"])
print(features.code, {name: tuple(y.shape) for name, y in features(x).items()}, [name for name, _ in features.named_children()])
traced = fx.symbolic_trace(net)
ShapeProp(traced).propagate(x)
print([(node.name, tuple(node.meta["tensor_meta"].shape), node.meta["tensor_meta"].dtype) for node in traced.graph.nodes][1:-1])

print("--- 12 a graph by hand, a tracer of one's own")
graph = fx.Graph()
a = graph.placeholder("a")
b = graph.get_attr("weight")
c = graph.call_function(operator.mul, (a, b))
d = graph.call_function(torch.cat, ([a, c],), {"dim": 0})
graph.output(graph.call_method("sum", (d,)))
by_hand = fx.GraphModule({"weight": torch.tensor([1.0, 2.0])}, graph)
print(by_hand.code, by_hand(torch.ones(2)))
try:
    graph.erase_node(c)
except RuntimeError as error:
    print(str(error).split("\n")[0])


class Deep(fx.Tracer):
    def is_leaf_module(self, m, qualname):
        return isinstance(m, nn.Conv2d)


deep = nn.Sequential(nn.Conv2d(1, 1, 1), nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
graph = Deep().trace(deep)
print([(node.op, node.name) for node in graph.nodes])
fused.graph.print_tabular()
second = copy.deepcopy(graph)
print(len(second.nodes), [len(node.users) for node in second.nodes], second.find_nodes(op="call_module"))
with second.inserting_before(second.find_nodes(op="output")[0]):
    second.call_function(F.relu, (second.find_nodes(op="placeholder")[0],))
second.owning_module = deep
print(
    len(second.nodes),
    second.eliminate_dead_code(is_impure_node=lambda node: node.op in ("placeholder", "output")),
    len(second.nodes),
)
