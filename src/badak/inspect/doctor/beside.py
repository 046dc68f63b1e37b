"""What the text of a program puts side by side: rows of two tables that are not the same."""

import ast
import re

from badak.inspect.doctor.source import unparse
from badak.inspect.doctor.syntax import assigned, called, find, functions_of
from badak.inspect.doctor.tables import ON_PURPOSE, ORDERS, SAME_ROWS, apart_from, picks
from badak.inspect.doctor.told import Found, rule


@rule()
def of_another_draw(tree: ast.Module) -> Found:
    """return x[index], y[torch.randperm(n)], where index is an order, too."""
    for function in find(tree, ast.FunctionDef):
        orders = {name for _, name, value in assigned(function) if called(value) in ORDERS}
        for line in find(function, ast.Return | ast.Assign):
            every = [x for x in find(line, ast.Subscript) if isinstance(x.value, ast.Name)]
            fresh = next((x for x in every if called(x.slice) in ORDERS), None)
            other = next((x for x in every if unparse(x.slice) in orders), None)
            if fresh is not None and other is not None and unparse(fresh.value) != unparse(other.value):
                if not ON_PURPOSE.search(unparse(fresh.value)):
                    yield apart_from(line.lineno, unparse(fresh.value), unparse(other.value))


@rule()
def side_by_side(tree: ast.Module) -> Found:
    """TensorDataset(x, y[torch.randperm(n)]); and self.x[i], self.y[i - 1] of one example."""
    for node in (x for x in find(tree, ast.Call) if called(x).endswith("Dataset") and len(x.args) > 1):
        moved = [x for x in node.args if isinstance(x, ast.Subscript) and called(x.slice) in ORDERS]
        if 0 < len(moved) < len(node.args) and not ON_PURPOSE.search(unparse(moved[0].value)):
            other = next(unparse(x) for x in node.args if x not in moved)
            yield apart_from(node.lineno, unparse(moved[0].value), other)
    for function in (x for x in functions_of(tree, "__getitem__") if len(x.args.args) > 1):
        place = function.args.args[1].arg
        every = [x for x in find(function, ast.Subscript) if not isinstance(x.slice, ast.Slice)]
        plain = {unparse(x.value) for x in every if unparse(x.slice) == place}
        before = [
            x for x in every if re.fullmatch(rf"{re.escape(place)} - \d+", unparse(x.slice)) and unparse(x.value) not in plain
        ]
        if plain and before:
            yield apart_from(before[0].lineno, unparse(before[0].value), min(plain))


@rule()
def of_another_part(tree: ast.Module) -> Found:
    """train_x, train_y = x[:n], y[1 : n + 1], where the test takes the same rows of both; or both side by side in a dataset."""
    sides: dict[str, list[tuple[int, ast.Subscript]]] = {}
    for line, name, value in assigned(tree):
        stem = re.sub(r"(?<![a-z])[xyXY](?![a-z])|[XY]$|features|inputs|labels|targets|_", "", name)
        cut = sliced(value)
        if stem != name.replace("_", "") and stem and cut is not None:
            sides.setdefault(stem, []).append((line, cut))
    pairs = [(b[0], a[1], b[1]) for several in sides.values() if len(several) == 2 for a, b in [several]]
    for node in (x for x in find(tree, ast.Call) if called(x).endswith("Dataset") and len(x.args) == 2):
        cuts = [sliced(x) for x in node.args]
        if cuts[0] is not None and cuts[1] is not None:
            pairs.append((node.lineno, cuts[0], cuts[1]))
    of = [(line, a, b) for line, a, b in pairs if unparse(a.value) != unparse(b.value)]
    alike = {(unparse(a.value), unparse(b.value)) for _, a, b in of if unparse(a.slice) == unparse(b.slice)}
    for line, a, b in of:
        if (unparse(a.value), unparse(b.value)) in alike and unparse(a.slice) != unparse(b.slice):
            yield apart_from(line, unparse(b), unparse(a))


def sliced(value: ast.expr) -> ast.Subscript | None:
    """Some rows of a table, one after the other, behind what casts them."""
    while isinstance(value, ast.Call) and value.args and (called(value) in SAME_ROWS or called(value) == "Variable"):
        value = value.args[0]
    cut = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice | ast.Name) and isinstance(value.value, ast.Name)
    return value if cut else None  # type: ignore[return-value]


@rule()
def of_the_table(tree: ast.Module) -> Found:
    """mixed = pairs[torch.randperm(n)], and in one loop rows i to j of both."""
    copies = {
        name: unparse(value.value)
        for _, name, value in assigned(tree)
        if isinstance(value, ast.Subscript) and called(value.slice) in ORDERS and name != unparse(value.value)
    }
    for loop in find(tree, ast.For):
        every = [(each.lineno, *pick) for each in find(loop.body, ast.Subscript) for pick in picks(each)]
        for line, base, index in every:
            copy = next((name for name, of in copies.items() if of == base), "")
            if copy and ":" in index and any((name, at) == (copy, index) for _, name, at in every):
                yield apart_from(line, copy, base)


RULES = (side_by_side, of_another_part, of_the_table, of_another_draw)
