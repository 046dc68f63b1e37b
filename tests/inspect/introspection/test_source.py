"""`badak source`: what it reads from the code against what really runs, for every public name; and its words."""

import os
import sys

import numpy as np
import pytest

import badak
from badak import kernels, nn
from badak.cli import main
from badak.core import events
from badak.core.errors import ArgumentTypeError, BadakError
from badak.inspect.introspection import sources
from badak.inspect.introspection.names import everything
from badak.inspect.introspection.sources import Source, source_of
from badak.inspect.introspection.trace import all_ops, fast_places, kernels_of
from badak.kernels import reference
from badak.nn import functional as F
from badak.ops.cast import Cast
from badak.ops.copy_slices import Replaced
from badak.ops.shape import Expand
from tests import tiers
from tests.samples import rows
from tests.tiers import thinned

PLACES = sorted({place for places in everything().values() for place in places})
CARRIED = {
    Cast,
    Replaced,
    Expand,
}  # dtypes, and the history of what is written in place: apply and its kin put them anywhere
INSIDE = {  # hooks, views, badak.quantize, vmap, and what a backward asks for
    "Observe", "WriteView", "LinearInt8", "LinearBFloat16", "LinearBlocks", "EmbeddingBlocks", "LinearOfEach",
    "AirySlope", "SampledMm",
}  # fmt: skip
OF_THE_OTHER = {"SparseMm": {"sparse_mm_backward"}, "SampledMm": {"sparse_mm"}}  # each is the backward of the other
OF_OPERATIONS = {"gather", "scatter_add", "index_add"}  # which a backward asks for by an operation: IndexAdd.of
NOT_READ = {
    "sparse_coo_tensor": {"Unbind"},  # a tensor that is taken apart by `a, b = x`, which no name says
    "summary": {"Linear"},  # the model that it was given
}


def below(found: Source) -> list[str]:
    return [level.layer for level in found.levels if level.layer not in ("api", "update")]


@pytest.fixture(scope="module")
def sources_found() -> dict[str, Source]:
    return {place: source_of(place) for place in PLACES}


@pytest.mark.slow
def test_every_public_name_has_a_place_and_something_below_it_or_a_word(sources_found):
    assert len(sources_found) > 1500
    for place, found in sources_found.items():
        first = found.levels[0]
        assert (first.layer, first.name) == ("api", place)
        assert first.place or any("not written in badak" in note or "A value" in note for note in found.notes), place
        assert below(found) or found.made_of or found.notes, place
        if not below(found) and found.made_of:
            assert any("of the names that it is made of" in note for note in found.notes) or found.levels[1:], place
        assert str(found).startswith(f"badak.{place}\n")


@pytest.mark.slow
def test_every_place_holds_what_it_is_said_to_hold(sources_found):
    ways = {"forward": ("def ", "@", "forward = "), "backward": ("def ", "@", "backward = ")}
    starts = {"op": "class ", **ways, **dict.fromkeys(("reference", "numba", "update"), ("def ", "@")), "derivation": "# "}
    checked = set()
    for found in sources_found.values():
        for level in found.levels:
            if level.place is None or level in checked:
                continue
            checked.add(level)
            text = level.place.code()
            declared = "lambda " in text or any(f"= {row}(" in text for row in ("pointwise", "operation", "reduction", "_family"))
            if level.layer in starts and not declared:
                assert text.startswith(starts[level.layer]), (level, text[:80])
            if level.layer in ("reference", "numba", "op"):
                name = level.name.rpartition(".")[2]
                assert any(word in text for word in (f"def {name}(", f"class {name}(", f"{name} = ", f"{name}: type[")), level
            if level.layer == "tests":
                assert level.name.removeprefix("row ") in text, level
    assert len(checked) > 1500


@pytest.mark.slow
def test_every_operation_of_the_table_is_found_with_its_row(sources_found):
    found = {level.name for each in sources_found.values() for level in each.levels if level.layer == "op"}
    told = {level.name.removeprefix("row ") for each in sources_found.values() for level in each.levels if level.layer == "tests"}
    assert found - told == {"StandardGamma", "DirichletDraw"}, (
        "operations whose row of tests is not found"
    )  # no functions: they draw
    words = [level.name for level in source_of("distributions.Gamma").levels if level.layer == "tests"]
    assert words == ["no row of its own: tested through the names that use it"]
    assert {row.op.__name__ for row in rows()} - found == INSIDE, "operations that no public name leads to"


class Recorder(events.Observer):
    def __init__(self):
        self.ops = set()

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        self.ops.add(op)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_runs_below_every_public_name_is_what_was_read():
    from tests.wrong_input import calls  # PyTorch's samples, which take seconds to import

    asked, wrong = 0, {}
    for name in thinned(sorted(calls.public()), 250):
        ran = Recorder()
        for function, args, kwargs in calls.calls(name):
            events.watch(ran)
            try:
                function(*args, **kwargs)
            except (BadakError, NotImplementedError, TypeError, ValueError, RuntimeError):
                continue
            finally:
                events.watch(ran, False)
        missed = {op.__name__ for op in ran.ops - CARRIED - all_ops(calls.find(name))} - NOT_READ.get(name, set())
        asked += bool(ran.ops)
        if missed:
            wrong[name] = missed
    assert not wrong
    assert asked > (450 if tiers.chosen == "nightly" else 120)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_an_operation_asks_of_the_kernels_is_what_was_read(monkeypatch):
    asked: set[str] = set()
    for name, kernel in list(vars(reference).items()):
        if callable(kernel) and name[0] != "_":
            monkeypatch.setattr(
                reference,
                name,
                lambda *args, _kernel=kernel, _name=name, **named: asked.add(_name) or _kernel(*args, **named),
            )
    with kernels.use("reference"):
        for row in rows():
            read = {name for way in ("forward", "backward") for name in kernels_of(row.op, way).kernels}
            asked.clear()
            for call in row.cases():
                for dtype in (np.float32, np.float64):
                    saved, ys = call.forward(call.arrays(dtype))
                    if any(saved.needs):
                        dys = call.cotangents(ys)
                        if any(dy is not None for dy in dys):
                            call.backward(saved, dys)
            assert asked - OF_OPERATIONS <= read | OF_THE_OTHER.get(row.op.__name__, set()), row


def test_a_fast_kernel_is_told_where_there_is_one():
    fast = pytest.importorskip("badak.kernels.numba", reason="the Numba kernels are an extra")
    for name, kernel in vars(reference).items():
        if callable(kernel) and name[0] != "_":
            assert bool(fast_places(name)) == (getattr(fast, name) is not kernel), name


def test_softmax_from_the_api_to_its_row():
    found = source_of("softmax")
    assert [(level.layer, level.name) for level in found.levels] == [
        ("api", "softmax"), ("op", "Softmax"), ("forward", "Softmax.forward"), ("backward", "Softmax.backward"),
        ("reference", "softmax"), ("reference", "softmax_backward"), ("numba", "softmax"), ("numba", "softmax_rows"),
        ("numba", "softmax_backward"), ("numba", "softmax_backward_rows"), ("derivation", "softmax"), ("tests", "row Softmax"),
    ]  # fmt: skip
    files = [os.path.relpath(level.place.path, sources.ROOT) for level in found.levels]
    assert files[::4] == [
        "src/badak/tensor/elementwise.py",
        "src/badak/kernels/reference/softmax.py",
        "src/badak/kernels/numba/softmax.py",
    ]
    assert files[-2:] == ["docs/explanation/derivations/softmax.md", "tests/sample_rows/nn.py"]
    shown = found.show()
    order = [
        "def softmax(input",
        "Softmax = operation(",
        "y = elementary.exp(x - x.max(",
        "def softmax_rows(task",
        "# Softmax, backwards",
        "Sample(Softmax",
    ]
    assert [shown.index(text) for text in order] == sorted(shown.index(text) for text in order)
    assert shown.count("lambda x, dim=-1: _along(kernels.of(x).softmax,") == 1  # within its row, and not again


@pytest.mark.slow
@pytest.mark.parametrize(
    "given, name",
    [
        (F.softmax, "nn.functional.softmax"), (badak.Tensor.item, "Tensor.item"),
        (badak.ones(2).sum, "sum"), (nn.Linear, "nn.Linear"),
        (nn.Linear(2, 3), "nn.Linear"),
        (badak.optim.AdamW, "optim.AdamW"), ("F.gelu", "nn.functional.gelu"), ("nn.GELU", "nn.GELU"),
        ("torch.nn.functional.gelu", "nn.functional.gelu"), ("badak.exp", "exp"), ("exp()", "exp"), ("special.erf", "special.erf"),
    ],
)  # fmt: skip
def test_it_takes_functions_methods_classes_objects_and_names(given, name):
    assert badak.source(given).name == name


def test_an_operation_itself_may_be_asked():
    assert source_of(Cast).levels[0].name == "Cast"


@pytest.mark.slow
def test_what_is_made_of_others_names_them():
    assert source_of("F.softsign").made_of == ["Tensor.abs", "Tensor.div", "Tensor.add"]
    encoder = source_of("nn.TransformerEncoderLayer")
    assert {"nn.MultiheadAttention", "nn.Linear", "nn.Dropout", "nn.LayerNorm", "Tensor.add"} == set(encoder.made_of)
    assert "made of\n" in str(encoder) and "no operation of its own" in str(encoder)
    assert [level.name for level in source_of("nn.LayerNorm").levels[:3]] == [
        "nn.LayerNorm",
        "nn.functional.layer_norm",
        "LayerNorm",
    ]
    adam = [level.name for level in source_of("optim.AdamW").levels]
    assert adam[:3] == ["optim.AdamW", "adam", "update_all"]


def test_what_computes_nothing_says_so():
    assert source_of("pi").notes == ["A value (float), not a function: nothing is computed."]
    assert source_of("Tensor.item").notes == ["Plain Python: no operation and no kernel stands below it."]


def test_a_tensor_has_no_source_and_floor_rounds_it_down():
    assert badak.floor(badak.tensor([1.5, -0.5])).tolist() == [1.0, -1.0]
    with pytest.raises(ArgumentTypeError, match="source: Tensor is no function"):
        badak.source(badak.tensor([1.5]))


def test_in_an_installed_package_derivations_and_tests_are_left_out_with_a_word(monkeypatch):
    monkeypatch.setattr(sources, "IS_SOURCE_TREE", False)
    found = source_of("softmax")
    assert {"derivation", "tests"}.isdisjoint(below(found)) and below(found)[0] == "op"
    assert found.notes == ["Derivations and tests stand in the source tree; this is an installed package."]


def test_colours_where_pygments_is_and_plain_text_where_not(monkeypatch):
    found = source_of("F.gelu")
    assert "\x1b[" in found.show(colour=True) and "\x1b[" not in found.show()
    assert "<span style" in found._repr_html_()
    monkeypatch.setitem(sys.modules, "pygments", None)
    assert found.show(colour=True) == found.show()
    assert "<pre>" in found._repr_html_() and "dx = dy (Phi(x)" in found._repr_html_()


def test_the_command(capsys):
    assert main(["source", "F.gelu"]) == 0
    out, err = capsys.readouterr()
    assert out == f"{source_of('F.gelu')}\n" and not err
    assert main(["source", "gelu", "--show"]) == 0
    assert "GELU = pointwise(" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, fix",
    [
        ("sofmax", "fix: did you mean softmax, "),
        ("F.gello", "fix: did you mean nn.functional.gelu"),
        ("linear", None),
        ("nn.functional", "fix: did you mean "),
        ("qqqqqqqq", "fix: docs/reference/api lists the public names"),
    ],
)
def test_an_unknown_name_offers_the_nearest(name, fix, capsys):
    if fix is None:
        assert source_of(name).name == "nn.functional.linear"
        return
    assert main(["source", name]) == 2
    cause, offered = capsys.readouterr().err.splitlines()
    assert cause == f"error: source: no public name of badak is called {name!r}" and offered.startswith(fix), offered
