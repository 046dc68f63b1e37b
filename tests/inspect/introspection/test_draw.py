"""`badak.draw`: which boxes and lines a picture has, what it does not touch, and pictures in notebooks."""

import xml.etree.ElementTree as ET

import pytest

import badak
from badak import nn
from badak.core.errors import ArgumentTypeError, GraphError, ShapeError

S = "{http://www.w3.org/2000/svg}"


def boxes(drawing) -> list[str]:
    """ "name shape" of each box, from the top; the picture must be one that a browser can read."""
    found = []
    for group in ET.fromstring(drawing.svg).iter(f"{S}g"):
        words = [text.text or "" for text in group.iter(f"{S}text")]
        found.append((float(group.find(f"{S}rect").get("y")), f"{group.get('class')} {' '.join(words)}"))
    return [name for _, name in sorted(found)]


def lines(drawing) -> int:
    return len([path for path in ET.fromstring(drawing.svg).iter(f"{S}path") if path.get("marker-end")])


def test_a_layer_from_its_parameters_to_the_loss():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    drawing = badak.draw(model(badak.ones(2, 3)).sum(), model)
    assert boxes(drawing) == ["leaf 0.bias (4,)", "leaf 0.weight (4, 3)", "op linear (2, 4)", "op relu (2, 4)", "result sum ()"]
    assert (drawing.boxes, drawing.left_out, lines(drawing)) == (5, 0, 4)
    assert all(p.grad is None for p in model.parameters())


def test_what_is_used_twice_has_two_lines_and_boxes_do_not_overlap():
    x = badak.ones(3, requires_grad=True)
    y = x * x
    drawing = badak.draw((y.exp() + y.log()).sum() + y.sum())
    assert lines(drawing) == 2 + 3 + 2 + 1 + 2
    layers: dict[str, list[tuple[float, float]]] = {}
    for rect in ET.fromstring(drawing.svg).iter(f"{S}rect"):
        layers.setdefault(rect.get("y"), []).append((float(rect.get("x")), float(rect.get("width"))))
    for row in layers.values():
        row.sort()
        assert all(a + width < b for (a, width), (b, _) in zip(row, row[1:]))


def test_a_long_graph_is_cut_with_a_word():
    x = badak.ones(2, requires_grad=True)
    for _ in range(300):
        x = x + 1.0
    drawing = badak.draw(x, most=5)
    assert drawing.boxes == 5 and drawing.left_out == 296 and "296 of 301 left out" in drawing.svg
    assert boxes(drawing)[0] == "more ... more before"
    assert repr(drawing) == "Drawing(5 boxes, 296 more left out); save('graph.svg') writes it"


def test_drawing_leaves_the_graph_as_it_was(tmp_path):
    x = badak.ones(2, requires_grad=True)
    y = (x * 3).sum()
    badak.draw(y).save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text().startswith("<svg") and badak.draw(y)._repr_html_() == badak.draw(y).svg
    y.backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert boxes(badak.draw(y))[-2:] == ["op scale", "result sum ()"]  # the graph was freed: shapes are not known any more


def test_no_code_of_the_user_runs():
    called = []
    x = badak.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda dy: called.append(dy))
    badak.draw(y.sum())

    class Twice(badak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, dy):
            called.append(dy)
            return 2 * dy

    assert "Twice" in badak.draw(Twice.apply(x).sum()).svg and not called


X = badak.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    "make, kind, said",
    [
        (lambda: badak.draw(3), ArgumentTypeError, "draw: expected a Tensor; got int\nfix: badak.draw(loss)"),
        (lambda: badak.draw(badak.ones(2) * 2), GraphError, "draw: this tensor has no graph: it is a leaf, or was computed without "
         "gradients\nfix: draw what was computed from tensors that require a gradient, outside of no_grad()"),
        (lambda: badak.draw(badak.ones(2, requires_grad=True)), GraphError, "draw: this tensor has no graph"),
        (lambda: badak.draw(2 * X, 4), ArgumentTypeError, "draw: expected a Module as model; got int\nfix: "),
        (lambda: badak.draw(2 * X, most=0), ShapeError, "draw: expected most of at least 1; got most=0"),
    ],
)  # fmt: skip
def test_wrong_input_is_answered_in_two_lines(make, kind, said):
    with pytest.raises(kind) as told:
        make()
    assert str(told.value).startswith(said) and str(told.value).count("\nfix: ") == 1


def test_a_tensor_in_a_notebook_is_a_table_that_is_cut():
    html = badak.arange(6.0).reshape(2, 3)._repr_html_()
    assert html.count("<tr>") == 2 and html.count("<td>") == 6 and "Tensor <b>(2, 3)</b> badak.float32" in html
    large = badak.zeros(50, 1000, 1000, requires_grad=True)._repr_html_()
    assert large.count("<td>") == 12 * 13 + 1 and "…" in large and "⋮" in large and "[0], the first of 50 such tables" in large
    assert "requires_grad" in large and "made by scale" in (badak.ones(2, requires_grad=True) * 2.0)._repr_html_()
    assert "no values" in badak.empty(0, 3)._repr_html_() and "no values" in badak.empty(2, device="meta")._repr_html_()
    for x in (badak.tensor(3), badak.tensor([True]), badak.ones(2).bfloat16(), badak.ones(2) * 1j):
        assert x._repr_html_().count("<td>") == x.numel()


def test_a_module_in_a_notebook_is_a_tree_that_is_cut():
    html = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))._repr_html_()
    assert "0: <b>Linear</b>(in_features=2, out_features=3, bias=True) <span" in html and "9 parameters" in html
    assert html.count("<details") == 2
    assert "... 101 modules more" in nn.Sequential(*[nn.ReLU() for _ in range(400)])._repr_html_()
