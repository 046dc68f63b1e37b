"""`torch._utils` and `torch._jit_internal`: what libraries import from them does what PyTorch's does."""

import dataclasses
import pickle
import typing

import pytest
import torch
import torch._jit_internal
import torch._utils
import torch.utils._pytree

import badak
from badak.compat.torch import _jit_internal, _utils, pytree
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakError, DeviceError, NotSupportedError, StateError


def plain(value):
    """Numbers, shapes and texts, in badak's words."""
    if isinstance(value, (torch.Tensor, badak.Tensor)):
        return [str(value.dtype).partition(".")[2], list(value.shape), value.tolist(), value.requires_grad]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.replace("torch.", "badak.") if isinstance(value, str) else value


def both(story):
    """What a story gives with badak's module and with PyTorch's, and the class of its error."""

    def told(lib, module):
        try:
            return plain(story(lib, module))
        except BadakError as error:
            assert "\nfix: " in str(error)
            return [base.__name__ for base in type(error).__mro__], str(error).partition("\n")[0]
        except Exception as error:
            return type(error).__name__, str(error)

    return told(badak, _utils), told(torch, torch._utils)


def ten(lib):
    return [lib.ones(2, 3), lib.arange(4.0).reshape(2, 2).t(), lib.zeros(0, 2), lib.tensor(7.0), lib.arange(5.0)]


def typed(lib, x):
    return lib.storage.TypedStorage(wrap_storage=x.untyped_storage(), dtype=x.dtype)


def sees_the_storage(lib, u):
    base = lib.arange(6.0)
    made = u._rebuild_tensor_v2(typed(lib, base), 1, (2, 2), (2, 1), False, {})
    base[1] = 9.0
    return [made, base]


def wrapped(lib, u, raising):
    try:
        raising()
    except Exception:
        kept = u.ExceptionWrapper(where="in worker 3")
    try:
        kept.reraise()
    except Exception as error:
        lines = str(error).splitlines()
        return [type(error).__name__, lines[0], lines[1], lines[-1], kept.where, kept.exc_type.__name__]


class OfTwo(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


class WithMessage(Exception):
    message = "m"

    def __init__(self, message="none"):
        super().__init__(message)


def raises(error):
    def raising():
        raise error

    return raising


class Owner:
    @torch._utils.classproperty
    def theirs(cls):  # noqa: N805
        return cls.__name__

    @_utils.classproperty
    def ours(cls):  # noqa: N805
        return cls.__name__


SAME = {
    "flatten": lambda lib, u: u._flatten_dense_tensors(ten(lib)),
    "flatten one": lambda lib, u: u._flatten_dense_tensors([x := lib.ones(2, 3)]).data_ptr() == x.data_ptr(),
    "unflatten": lambda lib, u: u._unflatten_dense_tensors(lib.arange(16.0), ten(lib)),
    "unflatten views": lambda lib, u: u._unflatten_dense_tensors(x := lib.arange(6.0), [x])[0].data_ptr() == x.data_ptr(),
    "flatten with gradient": lambda lib, u: [
        u._flatten_dense_tensors([x := lib.ones(2, requires_grad=True), 2 * x]).sum().backward(),
        x.grad,
    ],
    "take": lambda lib, u: [list(u._take_tensors([*ten(lib), *(x.long() for x in ten(lib))], limit)) for limit in (1, 30, 1000)],
    "reorder": lambda lib, u: u._reorder_tensors_as(
        [lib.ones(1), lib.zeros(1), lib.tensor([3])], [lib.tensor([1]), lib.ones(1), lib.ones(1)]
    ),
    "rebuild": lambda lib, u: u._rebuild_tensor(typed(lib, lib.arange(6)), 1, (2, 2), (1, 2)),
    "rebuild v2": sees_the_storage,
    "rebuild v2 with gradient": lambda lib, u: u._rebuild_tensor_v2(typed(lib, lib.ones(3)), 0, (3,), (1,), True, {}),
    "rebuild v2 conjugate": lambda lib, u: u._rebuild_tensor_v2(
        typed(lib, lib.tensor([1 + 2j])), 0, (1,), (1,), False, {}, {"conj": True}
    ),
    "rebuild v2 negative": lambda lib, u: u._rebuild_tensor_v2(typed(lib, lib.ones(2)), 0, (2,), (1,), False, {}, {"neg": True}),
    "rebuild v3": lambda lib, u: u._rebuild_tensor_v3(
        typed(lib, lib.arange(4, dtype=lib.int16)), 0, (2,), (2,), False, {}, lib.int16
    ),
    "rebuild parameter": lambda lib, u: [
        type(p := u._rebuild_parameter(lib.ones(2), False, {})).__name__,
        p.detach(),
        u._rebuild_parameter_with_state(lib.ones(2), True, {}, {"mark": 3}).mark,
        u._rebuild_parameter_with_state(lib.ones(2), True, {}, ({"mark": 3}, {"other": 4})).other,
    ],
    "rebuild sparse": lambda lib, u: [
        u._rebuild_sparse_tensor(lib.sparse_coo, (lib.tensor([[0, 2]]), lib.ones(2), (4,), True)).to_dense(),
        u._rebuild_sparse_tensor(
            lib.sparse_csr, (lib.tensor([0, 1, 1]), lib.tensor([1]), lib.ones(1), (2, 3))
        ).to_dense(),
    ],
    "complex": lambda lib, u: [u._handle_complex(lib.tensor([1 + 2j])), u._handle_complex(lib.ones(2))],
    "lazy": lambda lib, u: type(u._handle_complex(lib.nn.parameter.UninitializedParameter())).__name__,
    "element size": lambda lib, u: [u._element_size(getattr(lib, n)) for n in "bool int8 int64 bfloat16 float64 complex64".split()],
    "devices": lambda lib, u: [
        u._get_available_device_type(), u._get_all_device_indices(), u._get_devices_properties([0, 1]),
        u.get_current_device_index(),
        u._get_current_device_index(), u._get_device_attr(lambda m: 1), u._get_device_index(3), u._get_device_index("cuda:1"),
        u._get_device_index("cpu", allow_cpu=True), u._get_device_index(None, optional=True),
        u._get_device_module("cpu") is lib.cpu,
    ],
    "cpus": lambda lib, u: u.cpu_count(),
    "key error message": lambda lib, u: [repr(u.KeyErrorMessage("a\nb")), str(KeyError(u.KeyErrorMessage("a\nb")))],
    **{
        f"wraps {type(error).__name__}": lambda lib, u, error=error: wrapped(lib, u, raises(error))
        for error in (ValueError("v"), KeyError("k"), OfTwo(1, 2), WithMessage("w"))
    },
    "call": lambda lib, u: [
        u.render_call(lib.add, (lib.ones(2, 3),), {"alpha": 2}), u.render_call(lib.relu, (lib.zeros(0), "a"), {}),
    ],
    "names": lambda lib, u: [
        u._import_dotted_name("os.path.join").__name__, u.try_import("no_such_module_anywhere"), u.try_import("math").__name__,
    ],
    "class property": lambda lib, u: [getattr(owner, "ours" if u is _utils else "theirs") for owner in (Owner, Owner())],
    "state": lambda lib, u: u._get_obj_state(OfTwo(1, 2)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of typed storages and of sparse tensors
@pytest.mark.parametrize("name", SAME)
def test_utils_are_those_of_pytorch(name):
    ours, theirs = both(SAME[name])
    assert ours == theirs


@pytest.mark.parametrize(
    ("call", "theirs", "ours"),
    [
        (lambda lib, u: u._get_device_index("cpu"), "ValueError", ArgumentError),
        (lambda lib, u: u._get_device_index("cuda"), "ValueError", ArgumentError),
        (lambda lib, u: u._get_device_index(None), "ValueError", ArgumentError),
        (lambda lib, u: u._element_size(3), "RuntimeError", None),
        (lambda lib, u: u._get_device_module("nowhere"), "RuntimeError", DeviceError),
        (lambda lib, u: u._set_obj_state(OfTwo(1, 2), (1, 2, 3)), "RuntimeError", StateError),
        (lambda lib, u: u._dummy_type("Stream")(), "RuntimeError", NotSupportedError),
        (lambda lib, u: u._unflatten_dense_tensors(lib.ones(3), [lib.ones(4)]), "RuntimeError", None),
    ],
)
def test_what_utils_refuse(call, theirs, ours):
    """PyTorch's class is among the bases, its sentence is kept, and a second line says what helps."""
    with pytest.raises(Exception) as expected:  # noqa: PT011
        call(torch, torch._utils)
    with pytest.raises(BadakError) as found:
        call(badak, _utils)
    assert "\nfix: " in str(found.value)
    assert theirs in [type(expected.value).__name__, *(base.__name__ for base in type(found.value).__mro__)]
    if ours:
        assert type(found.value) is ours and str(expected.value) in str(found.value)


def test_a_tensor_is_not_rebuilt_with_hooks_or_metadata_that_nobody_knows():
    part = (typed(badak, badak.ones(2)), 0, (2,), (1,), False)
    with pytest.raises(NotSupportedError, match="without hooks"):
        _utils._rebuild_tensor_v2(*part, {0: print})
    with pytest.raises(NotSupportedError, match="without hooks"):
        _utils._rebuild_parameter(badak.ones(2), True, {0: print})
    with pytest.raises(NotSupportedError, match="metadata of a tensor that are unknown"):
        _utils._rebuild_tensor_v2(*part, {}, {"zero": True})
    with pytest.raises(ArgumentTypeError, match="expected torch.dtype, but got"):
        _utils._element_size(3)


ANNOTATIONS = [
    tuple, typing.Tuple, typing.Tuple[int], tuple[int], list, typing.List, list[int], typing.Dict[str, int], dict, int | str,  # noqa: UP006
    typing.Union, typing.Union[int, str], int | None, typing.Optional, typing.Optional[int], typing.Union[int, str, None],  # noqa: UP007, UP045
    typing.Final[int], typing.Final, 3, None,
]  # fmt: skip


@pytest.mark.parametrize("name", "is_tuple is_list is_dict is_union is_optional is_future".split())
def test_annotations_are_told_apart_as_in_pytorch(name):
    def told(module):
        found = []
        for annotation in [*ANNOTATIONS, module.Future, module.Future[int]]:
            try:
                found.append(getattr(module, name)(annotation))
            except RuntimeError as error:
                found.append(str(error).partition("\n")[0])
        return found

    assert told(_jit_internal) == told(torch._jit_internal)


def dispatched(module):
    def many(x, flag=True):
        """Both."""
        return x, x

    def one(x, flag=True):
        return x

    found = module.boolean_dispatch("flag", 1, False, many, one, "a.module", "pool")
    return [
        found(3), found(3, True), found(3, flag=True), found(3, flag=False), found.__name__, found.__module__, found.__doc__,
        one.__doc__,
        module._try_get_dispatched_fn(found)["arg_name"], module._try_get_dispatched_fn(one), module._try_get_dispatched_fn(3),
        module.get_callable_argument_names(one), module.get_callable_argument_names(3),
    ]  # fmt: skip


def decorated(module):
    class Holder:
        @staticmethod
        def still():
            return 1

        @module.export
        def a(self):
            return "a"

        @module.unused
        def b(self):
            return "b"

        @module.ignore
        def c(self):
            return "c"

        @module.ignore(drop=False)
        def d(self):
            return "d"

        @module._copy_to_script_wrapper
        def e(self):
            return "e"

    holder = Holder()
    return [
        holder.a(), holder.b(), holder.c(), holder.d(), holder.e(), module.is_static_fn(Holder, "still"),
        module.is_static_fn(Holder, "a"), module.get_static_fn(Holder, "still")(), module.is_scripting(),
    ]  # fmt: skip


@pytest.mark.parametrize("story", [dispatched, decorated])
def test_jit_internal_is_that_of_pytorch(story):
    assert story(_jit_internal) == story(torch._jit_internal)


def test_two_functions_of_a_dispatch_have_one_docstring():
    def documented():
        """A."""

    with pytest.raises(StateError, match="only one function can have a docstring\nfix: "):
        _jit_internal.boolean_dispatch("flag", 0, False, documented, documented, None, None)


PROGRAM = """
import torch, torch._utils
from torch._utils import ExceptionWrapper, _flatten_dense_tensors, _rebuild_tensor_v2
from torch._jit_internal import boolean_dispatch, export
print(torch._utils._get_available_device_type(), _flatten_dense_tensors([torch.ones(2), torch.zeros(1)]).tolist())
print(hasattr(torch._utils, "_rebuild_wrapper_subclass"), ExceptionWrapper((KeyError, KeyError("a"), None)).exc_type)
try:
    torch._utils._rebuild_wrapper_subclass()
except AttributeError as error:
    print(error)
"""


@pytest.mark.slow
def test_they_are_found_where_pytorch_has_them(badak_run, program):
    done = badak_run(program(PROGRAM))
    lines = done.out.splitlines()
    assert lines[:2] == ["None [1.0, 1.0, 0.0]", "False <class 'KeyError'>"]
    assert lines[2] == "torch._utils._rebuild_wrapper_subclass: badak does not have it" and lines[3].startswith("fix: ")


@pytest.mark.slow
def test_what_pytorch_pickled_is_unpickled(tmp_path, badak_run, program):
    torch.manual_seed(0)
    kinds = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
    things = {
        "tensors": [torch.arange(6).reshape(2, 3).to(kind).T for kind in kinds]
        + [torch.empty(0), torch.ones(3)[1:].requires_grad_()],
        "model": torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.GRU(2, 2)),
        "values": [torch.Size([2]), torch.float16, torch.device("cpu"), torch.nn.Parameter(torch.ones(2), requires_grad=False)],
    }
    code = (
        "import pickle, torch\nthings = pickle.load(open('things.pkl', 'rb'))\nprint(things)\n"
        "print(round(things['model'](torch.ones(2, 3))[0].sum().item(), 4))\n"
    )
    (tmp_path / "things.pkl").write_bytes(pickle.dumps(things))
    done = badak_run(program(code))
    printed = f"{things}\n{round(things['model'](torch.ones(2, 3))[0].sum().item(), 4)}\n"
    assert done.out == printed, done.err


@pytest.mark.parametrize("wrong", [5, "x", pickle.dumps(5)])
def test_other_bytes_are_no_storage(wrong):
    with pytest.raises(BadakError) as told:
        _utils._load_from_bytes(wrong)
    assert len(str(told.value).splitlines()) == 2


def test_a_view_says_that_it_is_one():
    for lib in (badak, torch):
        x = lib.ones(4)
        assert [each._is_view() for each in (x, x[1:], x[1:].view(3, 1), x + 1, x[:2].clone())] == [False, True, True, False, False]


def schema_of(lib, infer, kind, returns="Tensor", **options):
    """What a function's annotations say, or the kind of error."""
    space = {"lib": lib, "Tensor": lib.Tensor, "typing": typing}
    cpu = lib.device("cpu")

    def function(x, y, *, n=3, s="a", d=lib.float32, e=None, g=1.5, where=cpu):
        pass

    function.__annotations__ = {
        "x": lib.Tensor, "y": eval(kind, space), "n": int, "s": str, "d": lib.dtype, "e": lib.Tensor | None, "g": float,
        "where": lib.device, "return": eval(returns, space),
    }  # fmt: skip
    try:
        return infer(function, **{"mutates_args": (), **options})
    except ValueError:
        return ValueError


KINDS = """Tensor int float bool str lib.dtype lib.device dict typing.Optional[Tensor] typing.List[Tensor] list[int] list[str]
    typing.Sequence[typing.Optional[Tensor]] typing.Optional[int] typing.Optional[typing.List[int]] typing.Sequence[bool]
    typing.Union[int,float,bool] typing.Optional[typing.List[Tensor]] typing.Tuple[int,int] typing.Optional[lib.dtype]
    typing.List[typing.Optional[int]] typing.Optional[typing.List[float]]""".split()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_schema_is_what_pytorch_reads_from_annotations():
    def both_of(*args, **options):
        ours, theirs = (schema_of(lib, lib.library.infer_schema, *args, **options) for lib in (badak, torch))
        assert ours == theirs, args
        return ours

    assert [both_of(kind) for kind in KINDS].count(ValueError) == 5
    for returns in ("None", "int", "float", "typing.Tuple[Tensor, Tensor]", "tuple[Tensor]", "typing.List[Tensor]", "str"):
        both_of("int", returns)
    for changed in (("x",), ("e", "x"), "unknown", ("n",), ("zz",)):
        both_of("int", mutates_args=changed)
    assert both_of("int", op_name="scaled").startswith("scaled(Tensor x, SymInt y, *, SymInt n=3")


def test_a_constant_is_a_node_without_children():
    told = []
    for tree in (pytree, torch.utils._pytree):
        made = dataclasses.make_dataclass("Config", ["norm"], frozen=True)
        tree.register_constant(made)
        leaves, spec = tree.tree_flatten([made("l2"), 3])
        same = [spec == tree.tree_flatten([made(word), 4])[1] for word in ("l2", "l1")]
        told.append([leaves, tree.tree_unflatten([5], spec)[0].norm, same])
        for wrong in (type("Plain", (), {}), type("Unhashed", (), {"__eq__": lambda a, b: True})):
            with pytest.raises(TypeError, match="non-default `__"):
                tree.register_constant(wrong)
        tree._deregister_pytree_node(made)
    assert told[0] == told[1] == [[3], "l2", [True, False]]


def test_tags_are_those_of_pytorch():
    names = [name for name in dir(torch.Tag) if name[0] != "_" and name not in ("name", "value")]
    assert sorted(tag.name for tag in badak.Tag) == sorted(names)
    assert all(badak.Tag[name].value == getattr(torch.Tag, name).value for name in names)


@pytest.mark.slow
def test_operators_of_pytorch_that_badak_lacks_stop_no_import(badak_run, program):
    program("import torch\ntable = {torch.ops._c10d_functional.all_gather_into_tensor.default: 1}\n", "library.py")
    code = (
        "import torch, library\n"
        "print(hasattr(torch.ops._c10d_functional, 'all_gather_into_tensor'), hasattr(torch.ops.mine, 'x'))\n"
        "torch.ops._c10d_functional.all_gather_into_tensor(1)\n"
    )
    done = badak_run(program(code))
    assert done.out.split() == ["False", "False"] and "all_gather_into_tensor: badak does not have it\nfix: " in done.err


@pytest.mark.parametrize("given", [("cpu",), (torch.device("cpu"), torch.half), (torch.double,), (torch.ones(1), True)])
def test_what_module_to_was_given_is_read_as_in_pytorch(given):
    names = {torch.device("cpu"): badak.device("cpu"), torch.half: badak.half, torch.double: badak.double}
    own = [badak.ones(1) if isinstance(each, torch.Tensor) else names.get(each, each) for each in given]
    device, dtype, *rest = torch._C._nn._parse_to(*given)
    found = badak._C._nn._parse_to(*own)
    assert [str(each).replace("badak.", "torch.") for each in found] == [str(each) for each in (device, dtype, *rest)]
    assert device is None or isinstance(found[0], badak.device)


def test_the_base_of_tensors_is_the_tensor():
    assert isinstance(badak.ones(1), badak._C.TensorBase) and isinstance(torch.ones(1), torch._C.TensorBase)


@pytest.mark.slow
def test_explain_says_whether_a_program_is_one_graph():
    import torch._dynamo  # takes a second

    def branch(x):
        return x * 2 if x.sum() > 0 else x

    net = badak.nn.Sequential(badak.nn.Linear(2, 3), badak.nn.BatchNorm1d(3))
    whole, cut = badak._dynamo.explain(net)(badak.randn(4, 2)), badak._dynamo.explain(branch, badak.ones(3))
    theirs = torch._dynamo.explain(branch)(torch.ones(3))
    assert (whole.graph_count, whole.graph_break_count, whole.break_reasons) == (1, 0, [])
    assert (cut.graph_count, cut.graph_break_count) == (theirs.graph_count, theirs.graph_break_count) == (2, 1)
    assert "Graph Break Count: 1" in str(cut) and "bool" in str(cut)
    assert net[1].num_batches_tracked.item() == 1  # it ran once


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cpu", "meta", "mps"])
def test_a_program_asks_for_which_device_it_is_compiled(name):
    import torch._dynamo.utils

    assert badak._dynamo.utils.is_compile_supported(name) == torch._dynamo.utils.is_compile_supported(torch.device(name))


@pytest.mark.filterwarnings("ignore:`apply_permutation` is deprecated")
def test_small_names_do_what_pytorchs_do():
    def told(lib):
        from_reduction, F = lib.nn._reduction, lib.nn.functional
        x = lib.arange(6.0).reshape(2, 3)
        return [
            [from_reduction.get_enum(word) for word in ("none", "mean", "sum")],
            [
                F._Reduction.legacy_get_string(*two, emit_warning=False)
                for two in ((None, None), (False, None), (True, False), (False, True))
            ],
            [F.has_torch_function_unary(x), F.has_torch_function_variadic(x, x), F.has_torch_function((x,))],
            lib.nn.modules.rnn.apply_permutation(x, lib.tensor([2, 0, 1])).tolist(),
            lib._tensor.Tensor is lib.Tensor,
        ]

    assert told(badak) == told(torch)
    assert badak.distributed.elastic.multiprocessing.errors.record(lambda x, y=1: x + y)(2, y=3) == 5
    assert isinstance((1, 2), badak.nn.common_types._size_2_t.__args__[1].__origin__)
    assert badak.autograd.profiler_util.EventList is badak.compat.torch.profiler_events.EventList
    with pytest.raises(ArgumentError, match="x is not a valid value for reduction\nfix: "):
        badak.nn._reduction.get_enum("x")
