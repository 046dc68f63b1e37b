"""What the text of a program does to the data of a test, and not to that of the training."""

import ast
import re
import sys

from badak.core.errors import tr
from badak.inspect.doctor.equal import LOOKS_UP, looked_up
from badak.inspect.doctor.rows import says_test
from badak.inspect.doctor.scaled import BOTH_ALIKE, is_fitted
from badak.inspect.doctor.source import own_text, unparse, walk
from badak.inspect.doctor.syntax import assigned, called, find, is_binary, names_in, stored_by
from badak.inspect.doctor.tables import picks
from badak.inspect.doctor.told import Found, rule


@rule("prepared", "{} is fitted again, to {}: the test is scaled otherwise than what was learnt from")
def prepared(tree: ast.Module) -> Found:
    """A scaler that is fitted again to the data of the test, next to one of the training's; words that are cut in two ways."""
    yield from words_cut_otherwise(tree)
    parts, given = held_parts(tree), assigned(tree)
    calls = [x for x in find(tree, ast.Call) if len(x.args) == 1 and is_fitted(x, given)]
    fits = [(x, unparse(x.args[0])) for x in calls]
    for _, name, value in given if len(fits) > 1 else ():
        own = [x for x in calls if any(x is y for y in walk(value))]
        if says_test(name) and "train" not in name and own and not says_test(unparse(own[0].args[0])):
            fits = [(x, name if x is own[0] else data) for x, data in fits]
    for node, data in fits:
        if data in parts or says_test(data) and any(not says_test(other) for _, other in fits):
            scaler = unparse(node.func.value)
            yield node, f"{scaler}.transform({data})", scaler, data


@rule("prepared", "{} is scaled by its own mean and spread: the test is scaled otherwise than what was learnt from")
def scaled_by_itself(tree: ast.Module) -> Found:
    """(x_test - x_test.mean(0)) / x_test.std(0)."""
    own_tests = {id(x) for function, name in parts_for_tests(tree) for x in find(function, ast.Name) if x.id == name}
    yield from given_by_itself(tree)
    made = [value for _, _, value in assigned(tree)]  # also by a comprehension over the parts
    for node in {id(x): x for x in (*walk(tree), *made) if is_binary(x, ast.Div)}.values():
        less = node.left
        if not isinstance(less, ast.BinOp) or not isinstance(less.op, ast.Sub):
            continue
        if not says_test(unparse(less.left)) and id(less.left) not in own_tests:
            continue
        name = unparse(less.left)
        own = re.compile(rf"^({re.escape(name)}\.\w+\(|(np|torch)\.\w+\({re.escape(name)}\b)(?!.*(axis|dim)=(-|[1-9]))(?!-|[1-9])")
        if own.search(unparse(less.right)) and own.search(unparse(node.right)):
            yield node, BOTH_ALIKE, name


AUGMENTS = re.compile(r"aug(ment\w*)?(_|$)|flip|crop|jitter|cutout|cutmix|mixup|mirror|rotate", re.IGNORECASE)


DRAWS = re.compile(r"\b(rand\w*|normal|uniform|choice|random|shuffle|permutation|bernoulli|Random\w+)\(")


@rule("prepared", "{} changes what the model is tested with by chance: it is another one each time")
def augmented_test(tree: ast.Module) -> Found:
    """What changes the data of the training by chance is called of the test's, too; once, not to take the mean of several."""
    kinds = [x for x in find(tree, ast.FunctionDef) if AUGMENTS.search(x.name) and DRAWS.search(unparse(x))]
    names = {each.name for each in kinds}
    calls = [x for x in find(tree, ast.Call) if called(x) in names and x.args]
    tests = [x for x in calls if says_test(unparse(x.args[0]))]
    own = [x for x in calls if called(x) in {called(each) for each in tests} and x not in tests]
    several = re.search(r"\btta\b|test.?time", own_text(), re.IGNORECASE)
    if own and len(tests) == 1 and not several and not any(isinstance(x, ast.ListComp) and tests[0] in walk(x) for x in walk(tree)):
        what = unparse(tests[0])
        yield tests[0], unparse(tests[0].args[0]), what


@rule("prepared", "{} is scaled by its own mean and spread: the test is scaled otherwise than what was learnt from")
def given_by_itself(tree: ast.Module) -> Found:
    """prepared(val, val.mean(), val.std()), of a function of the program."""
    functions = {x.name for x in find(tree, ast.FunctionDef)}
    for node in (x for x in find(tree, ast.Call) if called(x) in functions and len(x.args) > 2):
        name, others = unparse(node.args[0]), [unparse(x) for x in node.args[1:]]
        own = [re.compile(rf"^{re.escape(name)}(\[[^\]]*\])?\.{kind}\(") for kind in ("(mean|min)", "(std|max)")]
        if says_test(name) and all(any(map(x.search, others)) for x in own):
            yield node, BOTH_ALIKE, name


@rule("prepared", "{} numbers what is in the test by itself: a number means another thing than in the training")
def coded_apart(tree: ast.Module) -> Found:
    """test["town"] = pd.factorize(test["town"])[0], and {w: i for i, w in enumerate(set(test))}: numbers of the test's own."""
    loops = {y.id: x for x in find(tree, ast.For) for y in find(x.target, ast.Name)}
    made: list[tuple[int, str, str]] = []
    for line, _, value in stored_anywhere(tree):
        text, coded = unparse(value), value
        while isinstance(coded, ast.Subscript | ast.Attribute):
            coded = coded.value
        if isinstance(value, ast.DictComp) and called(value.generators[0].iter) == "enumerate" and value.generators[0].iter.args:  # type: ignore[attr-defined]
            made.append((line, unparse(value.generators[0].iter.args[0]), text))  # type: ignore[attr-defined]
        elif isinstance(coded, ast.Call) and (
            called(coded) == "factorize" or re.search(r"LabelEncoder\(\)\.fit_transform|astype\('category'\)\.cat\.codes", text)
        ):
            inner = next((x for x in [*coded.args, getattr(coded.func, "value", coded)] if names_in(x) - {"pd", "np"}), coded)
            base = re.split(r"\W", unparse(inner))[0]
            made.append((line, unparse(loops[base].iter) if base in loops else text, text))
    for line, of, text in made:
        both = says_test(of) and re.search("train", of)
        if both and isinstance(of, str) and of.startswith(("(", "[")) or says_test(of) and not both and len(made) > 1:
            yield line, tr("one table of numbers, made of the training's rows, for both"), text[:60]


def stored_anywhere(tree: ast.Module) -> list[tuple[int, str, ast.expr]]:
    """(line, name, value) of all assignments, those to a column of a table, too."""
    every = [x for x in find(tree, ast.Assign) if len(x.targets) == 1]
    return [(x.lineno, unparse(y), z) for x in every for y, z in stored_by(x)]


def parts_for_tests(tree: ast.Module) -> list[tuple[ast.FunctionDef, str]]:
    """(function, argument) where a function is always given data for a test, next to data for the training."""
    functions = {x.name: x for x in find(tree, ast.FunctionDef)}
    given: dict[tuple[str, str], list[str]] = {}
    for node in (x for x in find(tree, ast.Call) if called(x) in functions):
        texts = [unparse(each) for each in node.args]
        if any("train" in each for each in texts):
            for arg, text in zip(functions[called(node)].args.args, texts):
                given.setdefault((called(node), arg.arg), []).append(text)
    return [(functions[function], name) for (function, name), texts in given.items() if all(map(says_test, texts))]


def held_parts(tree: ast.Module) -> set[str]:
    """What a comprehension over parts, those of the test among them, picks of a table: x[i] for i in parts.values()."""
    dicts = {name for _, name, value in assigned(tree) if isinstance(value, ast.Dict) and says_test(unparse(value))}
    found = set()
    for node in find(tree, ast.DictComp | ast.ListComp):
        if any(names_in(loop.iter) & dicts for loop in node.generators):
            own = {name for loop in node.generators for name in names_in(loop.target)}
            found |= {f"{base}[{index}]" for base, index in picks(node) if index in own}
    return found


@rule("prepared", "the table of words is made of {}, and is asked for words that were cut otherwise")
def words_cut_otherwise(tree: ast.Module) -> Found:
    """for word in text.lower().split(): vocab[word] = len(vocab), and [vocab.get(w, 0) for w in text.split()]."""
    built: dict[str, str] = {}
    asked: dict[str, int] = {}
    table = ""
    for node in walk(tree):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            text = " ".join(map(unparse, node.body))
            name = node.target.id
            counts = rf"\w+\[{name}\] (= len\(|\+= 1)|setdefault\({name}, len\(|\.add\({name}\)"
            if re.search(counts, text):
                built[cut(node.iter)] = unparse(node.iter)
        elif isinstance(node, ast.Call) and called(node) in ("Counter", "set", "update") and len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.GeneratorExp | ast.ListComp) and isinstance(inner.elt, ast.Name):
                own = next((g for g in inner.generators if unparse(g.target) == inner.elt.id), None)
                if own is not None:
                    built[cut(own.iter)] = unparse(own.iter)
            elif called(node) == "update" and isinstance(inner, ast.Call):
                built[cut(inner)] = unparse(inner)
        elif isinstance(node, ast.SetComp) and isinstance(node.elt, ast.Name):
            own = next((g for g in node.generators if unparse(g.target) == node.elt.id), None)
            if own is not None:
                built[cut(own.iter)] = unparse(own.iter)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
            taken = looked_up(node.elt)
            if taken and LOOKS_UP.search(taken[0]) and taken[1] == unparse(node.generators[0].target):
                asked[cut(node.generators[0].iter)] = node.lineno
                table = taken[0]
    if len(built) != 1 or len(asked) != 1:
        return
    (one, text), (other, line) = next(iter(built.items())), next(iter(asked.items()))
    lowered = other.replace("lower", "", 1).split() == one.split()  # does nothing where no word has a capital letter
    if one and other and one != other and not (lowered and not any(map(capital, words_of(table)))):
        yield line, tr("one function for both"), text


def words_of(table: str) -> list[str]:
    """The words of a table that the program has under a name of its own; none where it is not to be had."""
    held = getattr(sys.modules.get("__main__"), table, None)
    return [word for word in held if isinstance(word, str)] if isinstance(held, dict) else []


def capital(word: str) -> bool:
    return word != word.lower()


def cut(over: ast.expr) -> str:
    """How words are cut out of a text: the calls, without what they are called of; "" where none is called."""
    calls = []
    while isinstance(over, ast.Call):
        if isinstance(over.func, ast.Attribute) and not (over.args and isinstance(over.args[0], ast.Name | ast.Subscript)):
            calls.append(over.func.attr + ",".join(map(unparse, over.args)))
            over = over.func.value
        else:
            calls.append(called(over))
            over = over.args[0] if over.args else ast.Constant(0)
    return " ".join(calls)
