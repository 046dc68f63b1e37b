"""torch.jit._get_trace_graph: the nodes that PyTorch's graph has, with their shapes, as counters of FLOPs read them."""

import pytest
import torch

import badak
from badak import jit
from badak.core.errors import NotSupportedError

SIZES = {"aten::size", "aten::Int", "prim::NumToTensor", "aten::detach"}  # of PyTorch's: badak's sizes are numbers


def layers(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.up = lib.nn.Conv2d(3, 4, 3, padding=1), lib.nn.ConvTranspose2d(4, 2, 2, 2, bias=False)
            self.norm, self.group, self.line = lib.nn.BatchNorm2d(4), lib.nn.GroupNorm(2, 4), lib.nn.Linear(4, 5)
            self.last, self.words = lib.nn.LayerNorm(5), lib.nn.Embedding(7, 4)

        def forward(self, x, ids):
            f = lib.nn.functional
            x = f.relu(self.group(self.norm(self.conv(x))), inplace=True)
            up = f.interpolate(self.up(x), scale_factor=2, mode="bilinear", align_corners=False)
            y = self.last(self.line(f.adaptive_avg_pool2d(x, 1).flatten(1)))
            words = self.words(ids).transpose(1, 2) + 1
            return [lib.cat([each, each], 1) for each in y.split([2, 3], 1)], lib.einsum("ij,kj->ik", y, y), up.mean((2, 3)), words

    return Net().eval(), (lib.ones(2, 3, 4, 4), lib.zeros(2, 3, dtype=lib.int64))


def products(lib):
    def run(x):
        lib.exp(x)  # whose result nobody needs
        y = 1 - lib.mm(x, x.T) @ x[:, :2]
        return (
            lib.bmm(y[None], x[None, :2]),
            lib.softmax(y * y / 3, 1).sum(1),
            x.max(),
            lib.stack([y, y]),
            lib.nn.functional.gelu(y),
        )

    return run, (lib.ones(3, 3),)


def applied(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

    return lambda x: Twice.apply(lib.exp(x), 2), (lib.ones(3),)


def nodes(graph):
    shape = lambda value: value.type().sizes() if value.isCompleteTensor() else None
    kept = [
        node for node in graph.nodes() if node.kind() not in SIZES and node.kind() not in ("prim::Constant", "prim::TupleConstruct")
    ]
    return [
        (node.kind(), *[[shape(each) for each in side if shape(each) is not None] for side in (node.inputs(), node.outputs())])
        for node in kept
        if node.kind() != "prim::ListConstruct" or node.output().type().__str__() == "List[Tensor]"
    ]


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")  # of PyTorch's own modules
@pytest.mark.parametrize("make", [layers, products, applied])
def test_the_nodes_are_those_of_pytorch(make):
    (theirs, given), (ours, args) = make(torch), make(badak)
    told = {lib: nodes(lib.jit._get_trace_graph(f, x)[0]) for lib, f, x in ((torch, theirs, given), (badak, ours, args))}
    plain = lambda rows: [
        row for row in rows if row[0] not in ("aten::slice", "aten::select", "aten::unsqueeze", "prim::ListConstruct")
    ]
    # 1 as a factor is a tensor without axes there, and a number here
    shapes = [[[each for each in side if each] for side in row[1:]] for row in plain(told[torch])]
    assert [row[0] for row in plain(told[badak])] == [row[0] for row in plain(told[torch])]
    assert [[[each for each in side if each] for side in row[1:]] for row in plain(told[badak])] == shapes


def test_hooks_push_the_names_of_modules():
    net = badak.nn.Sequential(badak.nn.Linear(2, 3), badak.nn.ReLU())
    for name, part in [("", net), *net.named_children()]:
        part.register_forward_pre_hook(lambda *_, name=name: badak._C._get_tracing_state().push_scope(name))
        part.register_forward_hook(lambda *_: badak._C._get_tracing_state().pop_scope())
    graph, made = jit._get_trace_graph(net, badak.ones(1, 2))
    assert [(node.kind(), node.scopeName()) for node in graph.nodes()] == [("aten::linear", "/0"), ("aten::relu", "/1")]
    assert made.shape == (1, 3) and badak._C._get_tracing_state() is None
    linear = graph.findNode("aten::linear")
    assert [x.node().kind() for x in linear.inputs()] == ["prim::Param"] * 3 and "aten::relu(" in str(graph)


def test_inputs_have_the_order_of_the_operator_and_constants_their_values():
    x, w = badak.ones(1, 2, 5, 5), badak.ones(4, 2, 3, 3)
    graph = jit.trace(lambda x, w: badak.nn.functional.conv2d(x, w, stride=2), (x, w)).graph
    their = torch.jit.trace(
        lambda x, w: torch.nn.functional.conv2d(x, w, stride=2), (torch.ones(1, 2, 5, 5), torch.ones(4, 2, 3, 3))
    ).graph
    ours, theirs = graph.findNode("aten::_convolution"), their.findNode("aten::_convolution")
    read = lambda node: [each.toIValue() for each in node.inputs()]
    assert read(ours)[:2] == read(theirs)[:2] == [None, None] and read(ours)[6:9] == read(theirs)[6:9]
    assert [[x.toIValue() for x in each.node().inputs()] for each in list(ours.inputs())[3:6]] == [[2, 2], [0, 0], [1, 1]]


def test_what_was_read_from_a_file_has_no_calls(tmp_path):
    jit.trace(badak.nn.Linear(2, 2), badak.ones(1, 2)).save(tmp_path / "m.pt")
    with pytest.raises(NotSupportedError, match="not the calls of the program"):
        jit.load(tmp_path / "m.pt").graph  # noqa: B018


def test_a_value_that_goes_to_python_is_warned_of():
    for read in (lambda x: x + x.sum().item(), lambda x: x if x.sum() > 0 else -x):
        with pytest.warns(jit._trace.TracerWarning, match="goes to Python"):
            jit._get_trace_graph(read, badak.ones(2))
