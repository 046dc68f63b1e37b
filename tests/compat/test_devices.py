"""CUDA, mixed precision, compilers, many processes: accepted with their meaning on a CPU, never pretended."""

import contextlib
import copy
import functools
import importlib
import warnings

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakWarning, DeviceError, GraphError, NotSupportedError, StateError


def test_no_gpu_is_there():
    cuda = badak.cuda
    assert (cuda.is_available(), cuda.device_count(), cuda.is_initialized(), cuda.is_bf16_supported()) == (
        False,
        0,
        False,
        False,
    )
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == 0 and cuda.get_arch_list() == []
    assert cuda.manual_seed_all(1) is None and cuda.empty_cache() is None and cuda.get_rng_state_all() == []
    for other in (badak.mps, badak.xpu, badak.accelerator):
        assert other.is_available() is False and other.device_count() == 0
    assert badak.accelerator.current_accelerator() is None and badak.cpu.is_available()


@pytest.mark.parametrize(
    "use",
    [
        lambda: badak.ones(1).cuda(),
        lambda: badak.ones(1, device="cuda"),
        lambda: nn.Linear(1, 1).to("cuda:0"),
        lambda: badak.cuda.synchronize(),
        lambda: badak.cuda.set_device(0),
        lambda: badak.cuda.Stream(),
        lambda: badak.cuda.FloatTensor(2),
        lambda: badak.mps.synchronize(),
        lambda: badak.set_default_device("cuda"),
    ],
)
def test_work_for_a_gpu_is_an_error_that_pytorchs_except_catches(use):
    with pytest.raises(RuntimeError) as caught:
        use()
    assert isinstance(caught.value, NotSupportedError) and "CPU" in caught.value.cause


def test_types_of_gpu_tensors_can_be_asked_for():
    assert not isinstance(badak.ones(1), badak.cuda.FloatTensor)
    assert issubclass(badak.cuda.OutOfMemoryError, RuntimeError) and badak.cuda.OutOfMemoryError is badak.OutOfMemoryError


def test_contexts_of_a_gpu_do_nothing():
    with badak.cuda.device(0), badak.cuda.stream(None), badak.cuda.nvtx.range("x"):
        assert badak.cuda.nvtx.range_push("y") == 0


def test_a_block_on_the_meta_device_uses_up_no_random_numbers():
    badak.manual_seed(3)
    torch.manual_seed(3)
    with badak.device("meta"), torch.device("meta"):
        ours, theirs = nn.Linear(4, 4), torch.nn.Linear(4, 4)
    ours.to_empty(device="cpu"), theirs.to_empty(device="cpu")
    assert nn.init.normal_(ours.weight).tolist() == torch.nn.init.normal_(theirs.weight).tolist()
    with badak.device("cpu"):
        assert badak.ones(1).device == badak.device("cpu")
    with pytest.raises(NotSupportedError, match="CPU"), badak.device("cuda"):
        pass


def test_flags_of_backends_can_be_set_and_read():
    backends = badak.backends
    assert (backends.cudnn.benchmark, backends.cuda.matmul.allow_tf32, backends.mps.is_built()) == (False, False, False)
    backends.cudnn.benchmark = True
    assert backends.cudnn.benchmark is True
    backends.cudnn.benchmark = False
    with backends.cudnn.flags(enabled=False):
        assert backends.cudnn.enabled is False
    assert backends.cudnn.enabled is True
    with backends.cuda.sdp_kernel(enable_flash=False):
        assert not backends.cuda.flash_sdp_enabled() and backends.cuda.math_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled()
    with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
        assert nn.functional.scaled_dot_product_attention(*[badak.ones(1, 1, 2, 4)] * 3).shape == (1, 1, 2, 4)


def test_settings_are_remembered():
    badak.set_float32_matmul_precision("high")
    badak.use_deterministic_algorithms(True, warn_only=True)
    assert badak.get_float32_matmul_precision() == "high" and badak.are_deterministic_algorithms_enabled()
    badak.set_float32_matmul_precision("highest")
    badak.set_deterministic_debug_mode("default")
    assert not badak.are_deterministic_algorithms_enabled()
    with pytest.raises(ArgumentError, match="float32 matmul precision"):
        badak.set_float32_matmul_precision("low")
    before = badak.get_num_threads()
    badak.set_num_threads(1)
    assert badak.get_num_threads() == 1
    badak.set_num_threads(before)
    with pytest.raises(ArgumentError, match="positive integer"):
        badak.set_num_threads(0)


@pytest.mark.parametrize("level", ["default", "warn", "error"])
def test_the_mode_of_determinism_is_remembered(level):
    told = []
    for lib in (torch, badak):
        lib.set_deterministic_debug_mode(level)
        told.append(lib.get_deterministic_debug_mode())
        lib.set_deterministic_debug_mode("default")
    assert told[0] == told[1]


def test_the_module_of_a_device():
    assert badak.get_device_module() is badak.get_device_module("cpu") is badak.cpu
    assert badak.get_device_module(badak.device("cuda")) is badak.cuda
    for wrong, words in (("meta", "Device 'meta' does not"), ("nonsense", "nonsense"), (3, "Invalid value of device '3'")):
        for lib in (torch, badak):
            with pytest.raises(RuntimeError, match=words):
                lib.get_device_module(wrong)


def test_what_computes_is_told_as_text():
    text = badak.__config__.show()
    assert text.startswith("badak built with:\n  - badak ") and badak.kernels.info()["kernels"] in text
    assert f"get_num_threads() : {badak.get_num_threads()}" in badak.__config__.parallel_info()
    assert badak.backends.nnpack.set_flags(False) == (False,)


def test_compile_gives_back_what_it_gets():
    model = nn.Linear(1, 1)
    assert badak.compile(model, mode="max-autotune", fullgraph=True) is model

    @badak.compile(dynamic=False)
    def f(x):
        return x + 1

    @badak.compiler.disable
    def g(x):
        return x + 2

    @badak.jit.script
    def h(x):
        return x + 3

    assert (f(1), g(1), h(1)) == (2, 3, 4)
    assert not badak.compiler.is_compiling() and not badak.jit.is_scripting() and not badak.jit.is_tracing()
    assert badak.jit.ignore(f) is f
    with pytest.raises(NotSupportedError, match="was not traced"):
        badak.jit.save(model, "m.pt")


def test_settings_of_a_compiler_that_is_not_there_are_accepted():
    config = badak._inductor.config
    config.coordinate_descent_tuning = True
    config.triton.unique_kernel_names = True
    badak._dynamo.config.suppress_errors = True
    badak._dynamo.reset()
    badak._logging.set_logs(recompiles_verbose=True)
    assert config.coordinate_descent_tuning and config.triton.unique_kernel_names


@pytest.mark.parametrize("lib", [torch, badak], ids=["pytorch", "badak"])
def test_settings_of_a_compiler_hold_within_a_block_or_a_function(lib):
    config = importlib.import_module("torch._inductor.config") if lib is torch else badak._inductor.config
    config.max_autotune, config.triton.cudagraphs = False, False

    @config.patch(max_autotune=True)
    def tuned():
        with config.patch({"triton.cudagraphs": True}), config.patch("max_autotune", 3):
            inner = config.max_autotune, config.triton.cudagraphs
        return inner, config.max_autotune, config.triton.cudagraphs

    assert tuned() == ((3, True), True, False)
    assert (config.max_autotune, config.triton.cudagraphs) == (False, False)


@pytest.mark.parametrize("place, name", [("", "SymInt"), ("", "SymFloat"), ("", "SymBool"), ("_C", "Graph"), ("_C", "Value")])
def test_what_a_tracer_would_make_can_be_asked_for_and_is_not_made(place, name):
    kind = getattr(getattr(badak, place) if place else badak, name)
    assert isinstance(kind, type) and not isinstance(3, kind) and (kind | None) is not None
    with pytest.raises(NotSupportedError, match=f"{name}: badak traces nothing, so that none can be made\nfix: "):
        kind(3)


def scaled_training(framework):
    """Three steps with a scaler on the CPU, the second with an infinite gradient."""
    scaler = framework.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    p = framework.nn.Parameter(framework.ones(2))
    optimizer = framework.optim.SGD([p], lr=0.25)
    seen = []
    for factor in (1.0, float("inf"), 1.0, 1.0):
        optimizer.zero_grad()
        scaler.scale((p * p * factor).sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        seen.append((p.tolist(), scaler.get_scale()))
    return seen, scaler.state_dict()


def test_a_scaler_on_the_cpu_does_what_pytorchs_does():
    assert scaled_training(badak) == scaled_training(torch)


def test_a_scaler_unscales_once_and_carries_its_state():
    scaler = badak.amp.GradScaler("cpu")
    optimizer = badak.optim.SGD([nn.Parameter(badak.ones(1))], lr=1.0)
    scaler.scale(badak.ones(1))
    scaler.unscale_(optimizer)
    with pytest.raises(GraphError, match="already been called"):
        scaler.unscale_(optimizer)
    other = badak.amp.GradScaler("cpu", init_scale=2.0)
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 65536.0


def test_a_scaler_for_a_gpu_switches_itself_off():
    with pytest.warns(BadakWarning, match="cuda is not available"):
        scaler = badak.cuda.amp.GradScaler()
    loss = badak.ones(1)
    assert not scaler.is_enabled() and scaler.scale(loss) is loss and scaler.state_dict() == {}


def test_data_parallel_wraps_and_calls_through():
    model = nn.Linear(2, 3)
    wrapped = nn.DataParallel(model)
    assert sorted(wrapped.state_dict()) == ["module.bias", "module.weight"] and wrapped.module is model
    assert badak.equal(wrapped(badak.ones(1, 2)), model(badak.ones(1, 2)))


@pytest.fixture
def group(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "1")
    badak.distributed.init_process_group("gloo", rank=0, world_size=1)
    yield badak.distributed
    badak.distributed.destroy_process_group()


def test_a_group_of_one_talks_to_itself(group):
    assert (group.get_rank(), group.get_world_size(), group.is_initialized(), group.is_available()) == (0, 1, True, True)
    kinds = None, group.new_group([0]), group.GroupMember.NON_GROUP_MEMBER
    assert [group.distributed_c10d._rank_not_in_group(each) for each in kinds] == [False, False, True]
    x, parts, objects = badak.arange(3.0), [badak.zeros(3)], [None]
    assert group.all_reduce(x, op=group.ReduceOp.AVG) is None and group.all_reduce(x, async_op=True).wait()
    group.all_gather(parts, x)
    group.all_gather_object(objects, {"a": 1})
    group.broadcast(x, src=0)
    group.barrier()
    assert x.tolist() == parts[0].tolist() == [0, 1, 2] and objects == [{"a": 1}]
    whole = badak.zeros(3)
    group.all_gather_into_tensor(whole, x)
    assert whole.tolist() == [0, 1, 2]
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 2), device_ids=None, find_unused_parameters=True)
    with model.no_sync():
        model(badak.ones(1, 2)).sum().backward()
    assert model.module.weight.grad is not None


def test_more_processes_are_an_error(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ArgumentError, match="a world of 4 ranks, but this process was started alone\n.*badak launch -n 4"):
        badak.distributed.init_process_group("nccl")
    with pytest.raises(ArgumentError, match="nprocs=0 starts nothing\nfix: nprocs=2; torch.cuda.device_count"):
        badak.multiprocessing.spawn(print, nprocs=0)
    with pytest.raises(ArgumentTypeError, match="must be sent to other processes .*lambda"):
        badak.multiprocessing.spawn(lambda rank: None, nprocs=2)
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(StateError, match="2 processes, but this is one of several ranks already"):
        badak.multiprocessing.spawn(print, nprocs=2)
    monkeypatch.undo()
    for question in (badak.distributed.get_rank, badak.distributed.barrier):
        with pytest.raises(StateError, match="has not been initialized"):
            question()
    with pytest.raises(ArgumentError, match="has not been initialized"):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1))


@pytest.mark.slow
def test_spawn_of_one_is_a_process_of_its_own(capfd, tmp_path):
    badak.multiprocessing.spawn(print, args=("here",), nprocs=1)
    assert capfd.readouterr().out == "0 here\n"
    with pytest.raises(StateError, match="one of 1 processes has failed"):
        badak.multiprocessing.spawn(int, args=("no number",), nprocs=1)
    assert badak.multiprocessing.cpu_count() >= 1


def block(framework, checkpoint):
    """Loss and gradients of a block with dropout, under a checkpoint or not."""
    framework.manual_seed(5)
    first, second = framework.nn.Linear(4, 4), framework.nn.Linear(4, 4)
    run = lambda x, scale: framework.nn.functional.dropout(second(first(x).relu()), 0.5) * scale  # noqa: E731
    x = framework.arange(8.0).reshape(2, 4).requires_grad_()
    y = checkpoint(run, x, 2.0) if checkpoint else run(x, 2.0)
    (y * y).sum().backward()
    return [t.detach().numpy() for t in (y, x.grad, first.weight.grad, second.bias.grad)]


def test_a_checkpoint_changes_no_number():
    plain = block(badak, None)
    kept = block(badak, lambda run, *args: badak.utils.checkpoint.checkpoint(run, *args, use_reentrant=False))
    for a, b in zip(plain, kept):
        assert np.array_equal(a, b)
    from torch.utils.checkpoint import checkpoint

    for a, b in zip(kept, block(torch, lambda run, *args: checkpoint(run, *args, use_reentrant=False))):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def nested(framework):
    """Gradients, asked for by name, of parameters within a checkpoint within a checkpoint."""
    framework.manual_seed(1)
    checkpoint = lambda function, x: framework.utils.checkpoint.checkpoint(function, x, use_reentrant=False)  # noqa: E731
    inner, outer = framework.nn.Linear(3, 3), framework.nn.Linear(3, 3)
    x = framework.ones(2, 3, requires_grad=True)
    y = checkpoint(lambda a: outer(checkpoint(lambda b: inner(b).sin() * b, a).tanh()), x)
    found = framework.autograd.grad(y.sum(), [x, *inner.parameters(), *outer.parameters()])
    return [g.numpy() for g in found]


def test_gradients_by_name_see_through_checkpoints_within_checkpoints():
    for a, b in zip(nested(badak), nested(torch), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_what_a_checkpoint_holds_is_its_arguments_alone():
    import weakref

    held = []

    def function(x):
        y = (x * 2).exp()
        held.append(weakref.ref(y._array))
        return y * y

    y = badak.utils.checkpoint.checkpoint(function, badak.ones(3, requires_grad=True), use_reentrant=False)
    assert held[0]() is None
    y.sum().backward()
    assert len(held) == 2


def test_a_function_that_does_something_else_the_second_time_is_named():
    calls = []

    def function(x):
        calls.append(None)
        return x.sin() if len(calls) == 1 else x.cos()

    y = badak.utils.checkpoint.checkpoint(function, badak.ones(3, requires_grad=True), use_reentrant=False)
    with pytest.raises(badak.core.errors.GraphError, match="computed again: cos in the place of sin\nfix: "):
        y.sum().backward()


def test_an_argument_that_was_written_to_after_a_checkpoint_is_noticed():
    x = badak.ones(3, requires_grad=True) * 1
    y = badak.utils.checkpoint.checkpoint(lambda a: a.exp() * a, x, use_reentrant=False)
    x.mul_(2)
    with pytest.raises(badak.core.errors.GraphError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("cached", [False, True], ids=["cast within", "cast before"])
def test_a_checkpoint_computes_again_under_the_autocast_of_the_first_time(cached):
    layer, kept = nn.Linear(4, 4), []
    for run in (lambda function, x: function(x), functools.partial(badak.utils.checkpoint.checkpoint, use_reentrant=False)):
        x = badak.arange(8.0).reshape(2, 4).requires_grad_()
        with badak.autocast("cpu"):
            if cached:
                layer(x)
            y = run(lambda a: layer(a).sin(), x)
        with badak.autocast("cpu", dtype=badak.float16):
            y.float().sum().backward()
        kept.append(x.grad)
    assert y.dtype is badak.bfloat16 and badak.equal(*kept)


def _said_by_contexts(framework):
    said = []

    @contextlib.contextmanager
    def says(word):
        said.append(word)
        try:
            yield
        finally:
            said.append(f"end of {word}")

    x = framework.ones(2, requires_grad=True)
    run = lambda a: (said.append("run"), a.exp().sin())[1]  # noqa: E731
    checkpoint = framework.utils.checkpoint.checkpoint
    checkpoint(run, x, use_reentrant=False, context_fn=lambda: (says("first"), says("again"))).sum().backward()
    for wrong in (
        {"use_reentrant": True, "debug": True},
        {"use_reentrant": True, "context_fn": lambda: None},
        {"use_reentrant": True, "bogus": 1},
        {"use_reentrant": False, "determinism_check": "no"},
    ):
        with pytest.raises(ValueError) as error:
            checkpoint(run, x, **wrong).sum().backward()
        said.append(str(error.value).splitlines()[0])
    return said


def test_a_checkpoint_enters_the_contexts_that_it_is_given():
    assert _said_by_contexts(badak) == _said_by_contexts(torch)


def test_a_selective_checkpoint_changes_no_number():
    from badak.compat.torch.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts, set_checkpoint_early_stop

    kept = []
    for policy in (lambda *args, **kwargs: CheckpointPolicy.MUST_SAVE, []):
        x = badak.ones(2, 2, requires_grad=True)
        contexts = functools.partial(create_selective_checkpoint_contexts, policy)
        with set_checkpoint_early_stop(False):
            badak.utils.checkpoint.checkpoint(lambda a: (a @ a).sin(), x, use_reentrant=False, context_fn=contexts).sum().backward()
        kept.append(x.grad)
    x = badak.ones(2, 2, requires_grad=True)
    (x @ x).sin().sum().backward()
    assert badak.equal(kept[0], x.grad) and badak.equal(kept[1], x.grad)
    with pytest.raises(ArgumentTypeError, match="policy_fn_or_list"):
        create_selective_checkpoint_contexts(3)


def test_a_checkpoint_works_where_only_parameters_want_gradients():
    layer = nn.Linear(2, 2)
    badak.utils.checkpoint.checkpoint(layer, badak.ones(1, 2), use_reentrant=False).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [1, 1]]
    layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    y = badak.utils.checkpoint.checkpoint_sequential(layers, 2, badak.ones(1, 2), use_reentrant=False)
    assert badak.equal(y, layers(badak.ones(1, 2)))


def test_trees_flatten_as_pytorchs():
    from torch.utils import _pytree as theirs

    ours = badak.utils._pytree
    tree = {"b": [1, (2, 3)], "a": {"c": None}}
    assert ours.tree_flatten(tree)[0] == theirs.tree_flatten(tree)[0]
    assert ours.tree_unflatten([10, 20, 30, 40], ours.tree_structure(tree)) == {"b": [10, (20, 30)], "a": {"c": 40}}
    assert ours.tree_map(lambda v, w: (v, w), [1, (2,)], [3, (4,)]) == theirs.tree_map(lambda v, w: (v, w), [1, (2,)], [3, (4,)])
    assert ours.tree_map_only(int, lambda v: v + 1, ["a", 1]) == ["a", 2]
    assert ours.tree_structure(tree).num_leaves == 4
    assert copy.deepcopy(ours.tree_structure(tree)) == ours.tree_structure(tree)


@pytest.mark.parametrize("other", ["2.0", "2.8", "1.13.1", "2.13.0", "2.14", "10.0", "2.13.0a0+git"])
def test_versions_compare_by_their_numbers(other):
    from torch.torch_version import TorchVersion

    ours, theirs = badak.torch_version.TorchVersion("2.13.0+badak.0.1.0"), TorchVersion("2.13.0")
    assert (ours >= other, ours < other) == (theirs >= other, theirs < other) or other.startswith("2.13.0a")
    assert ours >= (2, 8) and ours == "2.13.0+badak.0.1.0"


def test_a_number_alone_is_a_cuda_device():
    with pytest.raises(DeviceError, match="badak computes on the CPU; device 'cuda:1' was asked for"):
        badak.ones(1).to(1)


ASKED = "_mps_is_available _mps_is_in_bad_fork _has_cuda _has_mps _has_cudnn _has_magma _has_cusparselt _accelerator_getAccelerator"


@pytest.mark.parametrize("name", ASKED.split())
def test_the_core_answers_what_there_is_as_pytorch_without_a_gpu(name):
    asked = [getattr(lib._C, name) for lib in (badak, torch)]
    ours, theirs = (each() if callable(each) else each for each in asked)
    assert ours == theirs and str(badak._C._get_accelerator()) == str(torch._C._get_accelerator())
    assert badak._C._mps_is_on_macos_or_newer(13, 0) is False


def test_a_checkpoint_tells_of_the_way_that_loses_gradients_in_pytorch():
    def story(lib):
        layer, x = lib.nn.Linear(2, 1), lib.ones(2)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            y = lib.utils.checkpoint.checkpoint(layer, x)
            lib.utils.checkpoint.checkpoint(layer, x, use_reentrant=True)
            lib.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).sum().backward()
        kinds = ("should be passed explicitly", "None of the inputs have requires_grad=True")
        return [next(kind for kind in kinds if kind in str(one.message)) for one in seen], y.requires_grad

    assert story(torch) == (["should be passed explicitly", *["None of the inputs have requires_grad=True"] * 2], False)
    assert story(badak) == (story(torch)[0], True)
