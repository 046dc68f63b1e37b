"""`torch.library`: a program gives functions the names of operators, by which `torch.ops` calls them (`operators.py`)."""

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from badak.compat.torch.operators import OPERATORS, Operator
from badak.core.errors import ArgumentError, NotSupportedError, StateError, tr
from badak.core.public_api.door import Namespace
from badak.tensor import Tensor, device, dtype

_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS", "types": "default"}


def _named(qualname: Any) -> Operator:
    """The operator of that name, or of that definition."""
    name = qualname._qualname if isinstance(qualname, Operator | CustomOpDef) else str(qualname)
    name = name.removesuffix(".default")
    if name not in OPERATORS:
        raise StateError(tr("operator {} does not exist", name), "torch.library.define or custom_op first")
    return OPERATORS[name]


_early: dict[str, dict[str, Callable]] = {}  # kernels that came before their operator, as a file's extension does


def _defined(name: str, parameters: inspect.Signature) -> Operator:
    """A new operator, with the kernels that came before it."""
    operator = OPERATORS[name] = Operator(name, parameters)
    operator._kernels.update(_early.pop(name, {}))
    return operator


def _split(name: str) -> str:
    if name.count("::") != 1 or not all(name.split("::")):
        cause = tr("Expected the operator's name to be of the form 'namespace::name'; got {!r}", name)
        raise ArgumentError(cause, "'mylib::my_op'")
    return name


# ---------------------------------------------------------------------- PyTorch's functions


class CustomOpDef:
    """What `custom_op` gives: the operator, to be called and to be added to."""

    def __init__(self, operator: Operator, fn: Callable, mutates_args: Any = ()) -> None:
        self._operator, self._qualname, self._init_fn, self.mutates_args = (operator, operator._qualname, fn, mutates_args)
        self.__name__, self.__doc__ = operator.__name__, fn.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Any:
        """The kernel for these devices."""
        return register_kernel(self._qualname, device_types, fn)

    def register_fake(self, fn: Callable, /) -> Callable:
        """What gives shapes without values: kept."""
        return register_fake(self._qualname, fn)

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """backward(ctx, *grads) gives one gradient for each argument; setup_context(ctx, inputs, output) saves for it."""
        register_autograd(self._qualname, backward, setup_context=setup_context)

    def register_vmap(self, func: Callable | None = None) -> Any:
        """A batching rule: kept."""
        return register_vmap(self._qualname, func)


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: Any = (),
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function the operator "namespace::name", or the decorator that does. Called as torch.ops.namespace.name too."""
    _split(name)

    def made(function: Callable) -> CustomOpDef:
        parameters = inspect.signature(function) if schema is None else _parameters(schema)
        operator = _defined(name, parameters)  # a second definition takes the place of the first
        register_kernel(name, "default" if device_types is None else device_types, function)
        return CustomOpDef(operator, function, mutates_args)

    return made if fn is None else made(fn)


triton_op = custom_op


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """Register the kernel of an operator for a device ("cpu"), several, or all (None, "default"); or the decorator."""
    name = (op._qualname if isinstance(op, Operator | CustomOpDef) else _split(op)).removesuffix(".default")
    kernels = OPERATORS[name]._kernels if name in OPERATORS else _early.setdefault(name, {})
    kinds = (device_types,) if isinstance(device_types, str | None) else tuple(device_types)

    def made(function: Callable) -> Callable:
        for kind in kinds:
            kernels["default" if kind is None else _KEYS.get(kind, kind)] = function
        return function

    return made if func is None else made(func)


impl = register_kernel


def register_autograd(op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None) -> None:
    """Register the formula of an operator's backward, in the form of an autograd Function's two methods."""
    _named(op)._formula = backward, setup_context


def _kept(op: Any, func: Callable | None = None, /, *, lib=None, **options):
    """Accept what badak never calls. The operator may come later, or never, as in PyTorch."""
    _split(op if isinstance(op, str) else op._qualname)
    return (lambda function: function) if func is None else func


register_fake = register_vmap = impl_abstract = register_torch_dispatch = _kept


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Declare the operator "namespace::name" with the schema "(Tensor x, int n=1) -> Tensor"; kernels come with impl."""
    _defined(_split(qualname), _parameters(schema))


def _parameters(schema: str) -> inspect.Signature:
    """The parameters of a schema, with their defaults."""
    inner = re.match(r"[^(]*\((.*)\)\s*->", schema, re.DOTALL)
    if inner is None:
        raise ArgumentError(tr("expected a schema such as '(Tensor x) -> Tensor'; got {!r}", schema), "name the arguments")
    found: list[inspect.Parameter] = []
    named = False
    depth = 0
    parts = [""]
    for letter in inner[1]:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    for part in filter(None, map(str.strip, parts)):
        if part == "*":
            named = True
            continue
        left, equals, value = part.partition("=")
        default = _literal(value) if equals else inspect.Parameter.empty
        kind = inspect.Parameter.KEYWORD_ONLY if named else inspect.Parameter.POSITIONAL_OR_KEYWORD
        found.append(inspect.Parameter(left.split()[-1], kind, default=default))
    return inspect.Signature(found)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()  # a word such as contiguous_format


class Library:
    """Operators of one namespace: `Library("mylib", "DEF")` declares them, `Library("mylib", "IMPL", "CPU")` gives kernels."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ArgumentError(tr("Unsupported library kind: {}", kind), '"DEF", "FRAGMENT" or "IMPL"')
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare "name(Tensor x) -> Tensor"; the name."""
        name = schema.partition("(")[0].strip()
        define(f"{self.ns}::{name}", schema)
        return name

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", **options: Any) -> None:
        """The kernel of an operator for a dispatch key."""
        name = op_name._qualname if isinstance(op_name, Operator) else op_name
        name = name if "::" in name else f"{self.ns}::{name}"
        register_kernel(name, dispatch_key or self.dispatch_key or "CompositeImplicitAutograd", fn)

    def _destroy(self) -> None:
        """The operators stay."""


_WORDS = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", int | float | bool: "Scalar"}  # of results, too
_ONE_ALONE = {str: "str", dtype: "ScalarType", device: "Device"}  # which stand in no list


def infer_schema(prototype_function: Callable, /, *, mutates_args: str | Sequence = (), op_name: str | None = None) -> str:
    """The schema of a function, "(Tensor x, SymInt n=1) -> Tensor", by its annotations.

    mutates_args: names of the tensors that it changes, or "unknown". Raises ArgumentError where an annotation says too little.
    """
    try:
        known = get_type_hints(prototype_function)
        signature = inspect.signature(prototype_function)
    except (NameError, TypeError, ValueError) as error:
        raise ArgumentError(tr("infer_schema: {}", error), "a function whose annotations can be read") from None
    unknown = mutates_args == "unknown"
    changed = set() if unknown else set(mutates_args)
    parts: list[str] = []
    for number, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ArgumentError("infer_schema: We do not support positional-only args, varargs, or varkwargs", "name the arguments")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        word = _schema_word(known.get(name), name)
        if name in changed or unknown and word.startswith("Tensor"):
            if not word.startswith("Tensor"):
                cause = tr("infer_schema: only tensors are changed; {} is of {}", name, word)
                raise ArgumentError(cause, "mutates_args with tensors")
            word = f"Tensor(a{number}!){word.removeprefix('Tensor')}"
        parts.append(f"{word} {name}" + ("" if parameter.default is parameter.empty else f"={_schema_default(parameter.default)}"))
    if missing := changed - set(signature.parameters):
        raise ArgumentError(tr("infer_schema: {} in mutates_args, but not in the signature", ", ".join(sorted(missing))), None)
    return f"{op_name or ''}({', '.join(parts)}) -> {_schema_result(signature.return_annotation, known.get('return'))}"


_library = Namespace(infer_schema=Namespace(infer_schema=infer_schema))  # torch._library


def _schema_result(written: Any, kind: Any) -> str:
    """What a schema says of a result."""
    if written is None or kind is type(None):
        return "()"
    if get_origin(kind) is tuple:
        words = [_schema_word(one, "return") for one in get_args(kind)]
        return f"({', '.join(words)})" if len(words) > 1 else f"(({words[0]}))"
    if kind in _ONE_ALONE:
        raise ArgumentError(tr("infer_schema: return has unsupported type {}", kind), "a tensor, a number, or a tuple of them")
    return _schema_word(kind, "return")


def _schema_word(kind: Any, where: str) -> str:
    """What a schema calls a type."""
    if kind in (known := _WORDS | _ONE_ALONE):
        return known[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType) and type(None) in parts:
        word = _schema_word(Union[tuple(part for part in parts if part is not type(None))], where)  # noqa: UP007
        if word not in ("Tensor[]", "Tensor?[]", "Scalar[]"):
            return word + "?"
    elif origin in (Union, UnionType) and set(parts) == {int, float, bool}:
        return "Scalar"
    elif origin in (list, Sequence):
        word = _schema_word(parts[0], where)
        if word == "Tensor?" or parts[0] in _WORDS:
            return word + "[]"
    cause = tr("infer_schema: {} has unsupported type {}", where, kind)
    raise ArgumentError(cause, "Tensor, int, float, bool, str, dtype, device, a list of numbers or tensors, each perhaps | None")


def _schema_default(value: Any) -> str:
    if isinstance(value, str | device):
        return f'"{value}"'
    if isinstance(value, dtype):
        return value.name
    if value is None or isinstance(value, int | float):
        return str(value)
    raise ArgumentError(tr("infer_schema: unsupported default {!r}", value), "None, a number, a text, a dtype or a device")


def opcheck(op: Any, args: tuple, kwargs: dict | None = None, **options: Any) -> NoReturn:
    """Raises NotSupportedError."""
    raise NotSupportedError("opcheck: badak does not trace operators", "torch.autograd.gradcheck checks a formula")
