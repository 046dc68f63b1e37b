"""torch.fx: mistakes have two lines, and graphs stay graphs. What it traces is compared with PyTorch's in programs/fx_*.py."""

import copy
import operator
import pickle
from collections import namedtuple

import pytest
import torch

import badak
from badak import fx, nn
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, StateError


def traced() -> fx.GraphModule:
    return fx.symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fx.symbolic_trace(3), ArgumentTypeError, "symbolic_trace"),
        (lambda: fx.symbolic_trace(lambda x: x, concrete_args={"y": 1}), ArgumentError, "concrete_args has 'y'"),
        (lambda: fx.symbolic_trace(lambda x: x, concrete_args=[1]), ArgumentTypeError, "as a dict"),
        (lambda: fx.symbolic_trace(lambda x: x, concrete_args={"x": (1, 2)}), NotSupportedError, "is a tuple"),
        (lambda: fx.symbolic_trace(lambda x: list(x)), fx.proxy.TraceError, "cannot be iterated"),
        (lambda: fx.symbolic_trace(lambda x: len(x)), fx.proxy.TraceError, "'len' is not supported"),
        (lambda: fx.symbolic_trace(lambda x: range(x.shape[0])), fx.proxy.TraceError, "has no number"),
        (lambda: fx.symbolic_trace(lambda x: copy.deepcopy(x)), fx.proxy.TraceError, "cannot be copied"),
        (lambda: fx.wrap(3), ArgumentTypeError, "wrap"),
        (lambda: fx.wrap("f"), NotSupportedError, "top level"),
        (lambda: fx.GraphModule(3, fx.Graph()), ArgumentTypeError, "as root"),
        (lambda: fx.GraphModule({}, 3), ArgumentTypeError, "expected a Graph"),
        (lambda: fx.GraphModule({}, traced().graph), ArgumentError, "which the dict has not"),
        (lambda: fx.GraphModule(nn.Module(), traced().graph), ArgumentError, "which the root has not"),
        (lambda: fx.Graph().create_node("call", "x"), ArgumentError, "expected op of"),
        (lambda: fx.Graph().call_function("relu"), ArgumentError, "a Callable is expected"),
        (lambda: fx.Graph().call_method("relu", (traced().graph.output_node(),)), ArgumentError, "does not belong"),
        (lambda: fx.Graph().erase_node(traced().graph.output_node()), StateError, "wrong graph"),
        (lambda: fx.Graph().inserting_before(3), ArgumentError, "expected a node of this graph"),
        (lambda: fx.Interpreter(traced()).run(), ArgumentError, "was not passed in"),
        (lambda: fx.replace_pattern(3, 4, 5), ArgumentTypeError, "expected a GraphModule"),
        (lambda: fx.replace_pattern(traced(), lambda x: x, lambda x, y: x), ArgumentError, "arguments"),
        (lambda: pickle.dumps(traced()), NotSupportedError, "would hold code"),
        (lambda: traced()(badak.ones(1, 2), True, bad=1), TypeError, "bad"),
    ],
)
def test_a_mistake_is_explained(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert error is TypeError or "\nfix: " in str(raised.value)


def test_arguments_of_nodes_do_not_change():
    node = next(iter(fx.symbolic_trace(lambda x: badak.cat([x, x])).graph.find_nodes(op="call_function")))
    with pytest.raises(NotImplementedError, match="does not support mutation"):
        node.args[0].append(3)
    node.update_kwarg("dim", 1)
    assert node.kwargs == {"dim": 1} and len(node.users) == 1


def test_a_graph_that_is_none_is_found():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(operator.neg, (x,))
    z = graph.call_function(badak.relu, (y,))
    graph.output(z)
    graph.lint()
    z.append(y)
    with pytest.raises(StateError, match="was used before it has been defined"):
        graph.lint()
    assert y > z and not z > y


def test_names_of_a_file_are_no_code():
    graph = fx.Graph()
    x = graph.placeholder('x, y=__import__("os").system("false")')
    graph.output(x)
    with pytest.raises(ArgumentError, match="is no name of an argument"):
        fx.GraphModule({}, graph)
    graph = fx.Graph()
    graph.output(graph.call_method('a"), 1/0, getattr(x, "b', (graph.placeholder("x"),)))
    with pytest.raises(AttributeError):
        fx.GraphModule({}, graph)(badak.ones(1))


def test_a_copy_has_a_graph_of_its_own():
    one = traced()
    two = copy.deepcopy(one)
    node = two.graph.find_nodes(op="call_module")[1]
    node.replace_all_uses_with(node.args[0])
    two.graph.erase_node(node)
    two.recompile()
    x = badak.tensor([[1.0, -2.0]])
    assert one.graph is not two.graph and two.graph.owning_module is two
    assert badak.equal(one(x), two(x).relu()) and len(one.graph.nodes) == 4 and len(two.graph.nodes) == 3
    assert two.get_submodule("0").weight is not one.get_submodule("0").weight


def test_a_mode_or_a_tracer_sees_linear():
    class Deep(fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return False

    graph = Deep().trace(nn.Linear(2, 3))
    assert [node.name for node in graph.nodes] == ["input_1", "weight", "bias", "linear", "output"]


Pair = namedtuple("Pair", "a b")


def test_structures_come_through():
    def program(x):
        return Pair(x + 1, [x[..., 0], {"s": x.sum((0, 1))}]), slice(x.shape[0])

    ours, theirs = fx.symbolic_trace(program), torch.fx.symbolic_trace(program)
    assert [node.name for node in ours.graph.nodes] == [node.name for node in theirs.graph.nodes]
    pair, cut = ours(badak.ones(2, 3))
    assert type(pair) is Pair and pair.b[1]["s"].item() == 6.0 and cut == slice(2)


def test_a_list_of_operands_is_written_as_operands():
    class Products(badak.nn.Module):
        def forward(self, x, y):
            return badak.einsum("ij,jk->ik", [x, y])

    node = next(node for node in fx.symbolic_trace(Products()).graph.nodes if node.op == "call_function")
    assert [str(each) for each in node.args] == ["ij,jk->ik", "x", "y"]


def plain_before(graph, nodes, call):
    graph.inserting_before(nodes[1])
    call()
    graph.inserting_after(nodes[1])
    call(), call()


def nested(graph, nodes, call):
    with graph.inserting_after(nodes[0]):
        call()
        with graph.inserting_before(nodes[2]):
            call(), call()
        call()
    call()


def set_within(graph, nodes, call):
    with graph.inserting_before(nodes[2]):
        graph.inserting_after(nodes[0])
        call(), call()
    call()


def left_by_an_error(graph, nodes, call):
    try:
        with graph.inserting_before(nodes[0]):
            call()
            raise KeyError
    except KeyError:
        call()


def made_early(graph, nodes, call):
    """What a block restores is what was set when the point was made."""
    point = graph.inserting_before(nodes[1])
    graph.inserting_before(nodes[2])
    with point:
        call()
    call()


def moved(graph, nodes, call):
    with graph.inserting_after(nodes[1]):
        nodes[0].prepend(nodes[1])
        call(), call()
    with graph.inserting_before(nodes[2]):
        graph.erase_node(nodes[3])
        call()


@pytest.mark.parametrize(
    "story",
    [
        lambda graph, nodes, call: [graph.inserting_before(), call(), call()],
        lambda graph, nodes, call: [graph.inserting_after(), call(), call()],
        lambda graph, nodes, call: [graph.inserting_before(None), call(), graph.inserting_after(None), call(), call()],
        lambda graph, nodes, call: [graph.inserting_after(nodes[-1]), call(), call()],
        lambda graph, nodes, call: [graph.inserting_after(nodes[1]).__enter__(), call(), call()],
        *(plain_before, nested, set_within, left_by_an_error, made_early, moved),
    ],
)
def test_new_nodes_go_where_pytorch_puts_them(story):
    def order(lib):
        graph = lib.fx.Graph()
        x = graph.placeholder("x")
        nodes = [x, *(graph.call_function(abs, (x,), name=f"old{place}") for place in range(3))]
        made = iter("abcdefgh")
        story(graph, nodes, lambda: graph.call_function(abs, (x,), name=f"new_{next(made)}"))
        graph.call_function(abs, (x,), name="last")
        return [[node.name for node in graph.nodes], [node.name for node in reversed(graph.nodes)], len(graph.nodes)]

    assert order(badak) == order(torch)


def test_a_program_may_ask_whether_it_is_traced():
    asked = fx._symbolic_trace.is_fx_tracing

    def function(x):
        return x + 1 if asked() else x - 1

    assert fx.symbolic_trace(function)(badak.zeros(1)).item() == 1 and not asked()


@pytest.mark.parametrize("lib", [torch, badak], ids=["torch", "badak"])
def test_functions_that_change_memory_are_refused_where_that_is_asked(lib):
    class Tracer(lib.fx.Tracer):
        check_mutable_operations = True

    def into(x, y):
        lib.sigmoid(x, out=y)
        return y

    with pytest.raises(RuntimeError, match=r"mutable operation aten::sigmoid\.out"):
        Tracer().trace(into)
    assert len(Tracer().trace(lambda x: lib.sigmoid(x)).nodes) == 3 and len(lib.fx.Tracer().trace(into).nodes) == 4


@pytest.mark.parametrize("lib", [torch, badak], ids=["torch", "badak"])
def test_what_does_more_than_give_a_result_is_no_dead_code(lib):
    def asserts(x):
        lib._assert(x, "zero")
        lib._assert_async(x)
        return x * 2

    def draws(x):
        lib.rand_like(x)
        return x * 2

    def computes(x):
        lib.mul(x, 3)
        return x * 2

    for function, number in ((asserts, 5), (draws, 4), (computes, 3)):
        graph = lib.fx.symbolic_trace(function).graph
        assert graph.eliminate_dead_code() is (function is computes) and len(graph.nodes) == number
