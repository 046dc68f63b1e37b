"""The arguments of a public call as its function takes them: other names for them, NumPy's numbers, out= everywhere."""

from collections import abc
from collections.abc import Callable
from inspect import Parameter, Signature, signature, unwrap
from types import FunctionType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from numpy import generic, integer

# NumPy's words, and those of PyTorch's older or other overloads: what the argument may be called here
_OTHER_WORDS: dict[str, tuple[str, ...]] = {
    "axis": ("dim",), "keepdims": ("keepdim",), "x": ("input",), "a": ("input",), "x1": ("input",), "x2": ("other",),
    "axis0": ("dim0",), "axis1": ("dim1",), "split_size": ("split_size_or_sections",), "size": ("shape",),
    **dict.fromkeys(("sections", "indices", "tensor_indices_or_sections"), ("indices_or_sections",)),
    "values": ("other",), "other": ("tensor", "src", "B"), "b": ("B",), "input2": ("L", "tau"), "input3": ("other",),
    "element": ("elements",), "test_element": ("test_elements",), "from": ("from_",),
    "input": ("self", "A", "L"),
}  # fmt: skip


def other_words(function: Callable, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments under the words that the function has, where the call could not begin because of other ones; else None.

    A list of sizes by name stands for sizes one by one: x.expand(size=(2, 3)).
    """
    called = signature(function)
    known = called.parameters
    words = {name: next((word for word in (name, *_OTHER_WORDS.get(name, ())) if word in known), name) for name in kwargs}
    theirs = {words[name]: value for name, value in kwargs.items()}
    spread = next((name for name, each in known.items() if each.kind is Parameter.VAR_POSITIONAL and name in theirs), None)
    if len(theirs) < len(kwargs) or (theirs.keys() == kwargs.keys() and spread is None):
        return None
    if spread is not None:
        args = (*args, theirs.pop(spread))
    try:
        called.bind(*args, **theirs)
    except TypeError:
        return None
    return args, theirs


def older_form(function: Callable, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments of PyTorch's older form, with factors before what they multiply: addmm(beta, x, alpha, a, b); else None."""
    called = signature(function)
    words = [word for word in ("beta", "alpha", "value") if word in called.parameters and word not in kwargs]
    numbers = [x for x in args if isinstance(x, (int, float, complex)) and not isinstance(x, bool)]
    if not 0 < len(numbers) <= len(words):
        return None
    given = tuple(x for x in args if not any(x is number for number in numbers)), kwargs | dict(zip(words, numbers))
    try:
        called.bind(*args, **kwargs)
        return None
    except TypeError:
        pass
    try:
        called.bind(*given[0], **given[1])
    except TypeError:
        return None
    return given


def other_numbers(function: Callable, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments with Python's numbers for NumPy's, and for 0-d tensors where a number stands; None where all are Python's.

    What is asked only once a call has failed costs nothing to the others.
    """
    called = signature(function)
    try:
        given = called.bind(*args, **kwargs)
    except TypeError:
        return None
    found = {name: _as_number(called.parameters[name].annotation, value) for name, value in given.arguments.items()}
    if all(found[name] is value for name, value in given.arguments.items()):
        return None
    given.arguments.update(found)
    return given.args, given.kwargs


def _as_number(annotation: Any, value: Any) -> Any:
    if isinstance(value, integer):
        return int(value)
    if getattr(getattr(value, "_array", None), "ndim", None) == 0 and not value.requires_grad:
        kinds = {inner for each in _one_of(annotation) for inner in (each, *_one_of(*get_args(each)))}
        whole = value._array.dtype.kind in "iu"
        number = (int in kinds and whole) or (float in kinds and (whole or value.is_floating_point()))
        return value.item() if number and not any(map(_is_tensor, kinds)) else value
    if type(value) in (tuple, list):
        found = [_as_number(annotation, each) for each in value]
        return value if all(a is b for a, b in zip(found, value)) else type(value)(found)
    return value


def _one_of(*annotations: Any) -> tuple:
    """The types of which one will do."""
    many = (Union, UnionType)
    return tuple(each for one in annotations for each in (get_args(one) if get_origin(one) in many else (one,)))


def _is_tensor(annotation: Any) -> bool:
    return getattr(annotation, "__name__", annotation) == "Tensor"


def fits(annotation: Any, value: Any) -> bool:
    """Whether a value is of the kind that an annotation says, as far as it says one."""
    return any(_fits_one(each, value) for each in _one_of(annotation))


def _fits_one(kind: Any, value: Any) -> bool:
    if _is_tensor(kind):
        return hasattr(value, "_array")
    if kind in (None, NoneType):
        return value is None
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind] | generic) or hasattr(value, "__index__") or getattr(value, "ndim", 1) == 0
    if get_origin(kind) in (abc.Sequence, abc.Iterable, list, tuple):
        inner = get_args(kind)[0]
        if isinstance(value, list | tuple):
            return all(fits(inner, each) for each in value)
        return isinstance(value, abc.Iterable) and not isinstance(value, str | bytes | abc.Mapping | abc.Set)
    return isinstance(value, kind) if kind in (str, bool) else True


_NUMBERS: dict[Any, Any] = {int: int, float: int | float, complex: int | float | complex}


def worded(annotation: Any) -> str:
    """The kinds that an annotation says: "Tensor or None", "int or a list of ints"."""
    kinds = _one_of(annotation)
    return " or ".join(dict.fromkeys(_word_of(each, alone=len(kinds) == 1) for each in kinds))


def _word_of(kind: Any, alone: bool) -> str:
    if get_args(kind):
        return f"a list of {worded(get_args(kind)[0])}s"
    if kind in (float, complex) and not alone:
        return "number"
    return "None" if kind in (None, NoneType) else getattr(kind, "__name__", str(kind))


def named(function: Any, name: str, doc: str | None = None) -> Any:
    """The function, made for one of several names, under this one and with this docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


BY_NAME = 1 << 30  # the place of what is given by name alone

One = tuple[str, int, Any, Any]  # the parameter's name, where it stands among the arguments, its default, its annotation


def parameters_of(function: Callable) -> list[One]:
    """The parameters that take one argument each; without a default, or an annotation, that is `Parameter.empty`.

    `inspect.signature`, which is asked where there is no code, needs ten times as long: a seventh of `import badak`.
    Raises TypeError or ValueError where Python does not know them, as `inspect.signature` does.
    """
    written = unwrap(function, stop=_is_no_code)
    if _is_no_code(written):
        many = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        return [
            (each.name, BY_NAME if each.kind is Parameter.KEYWORD_ONLY else place, each.default, each.annotation)
            for place, each in enumerate(signature(written).parameters.values())
            if each.kind not in many
        ]
    code, empty = written.__code__, Parameter.empty
    count, by_name = code.co_argcount, written.__kwdefaults__ or {}
    defaults = dict(enumerate(written.__defaults__ or (), count - len(written.__defaults__ or ())))
    annotation = written.__annotations__.get
    return [
        (name, place, defaults.get(place, empty), annotation(name, empty))
        if place < count
        else (name, BY_NAME, by_name.get(name, empty), annotation(name, empty))
        for place, name in enumerate(code.co_varnames[: count + code.co_kwonlyargcount])
    ]


def _is_no_code(function: Any) -> bool:
    """Whether Python is to be asked: it was not written as this function, or says itself how it is called."""
    return type(function) is not FunctionType or hasattr(function, "__signature__")


_OUT = frozenset(  # functions without an out= of their own, which PyTorch gives one
    "bucketize chain_matmul clamp_max clamp_min column_stack conj_physical diag diff dstack float_power histc hstack hypot "
    "index_add index_copy inner isin isneginf isposinf kron median mode msort nan_to_num nanmean row_stack scatter scatter_add "
    "searchsorted softmax log_softmax take_along_dim vstack".split()
)


def takes_out(function: Callable, space: str, name: str) -> bool | None:
    """Whether the function has out=; False where it has none, and PyTorch's has one; None where neither has."""
    if space not in ("badak", "badak.special"):
        return True
    try:
        known = [name for name, *_ in parameters_of(function)]
    except (TypeError, ValueError):
        return True
    return True if "out" in known else False if name in _OUT else None


def with_out(called: Signature) -> Signature:
    """The signature with out= at its end, which is of the kind of the result."""
    parameters, made = list(called.parameters.values()), called.return_annotation
    at = next((i for i, each in enumerate(parameters) if each.kind is Parameter.VAR_KEYWORD), len(parameters))
    parameters.insert(
        at, Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation=made | None if isinstance(made, type) else Any)
    )
    return called.replace(parameters=parameters)
