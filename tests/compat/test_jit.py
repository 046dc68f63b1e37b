"""torch.jit: traces are what PyTorch's are, files hold no code, mistakes have two lines."""

import io
import json
import struct
import warnings
import zipfile

import numpy as np
import pytest
import torch

import badak
from badak import jit, nn
from badak.core.errors import ArgumentError, BadakError, DTypeError, FileError, NotSupportedError, ShapeError

NETS = {
    "mlp": (lambda lib: lib.nn.Sequential(lib.nn.Linear(4, 5), lib.nn.GELU(), lib.nn.Linear(5, 2)), (3, 4), (7, 4)),
    "cnn": (
        lambda lib: lib.nn.Sequential(
            lib.nn.Conv2d(3, 4, 3, padding=1), lib.nn.BatchNorm2d(4), lib.nn.ReLU(), lib.nn.MaxPool2d(2), lib.nn.Flatten(),
            lib.nn.Linear(64, 2),
        ),
        (2, 3, 8, 8),
        (5, 3, 8, 8),
    ),
    "lstm": (lambda lib: lib.nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), (2, 5, 4), (3, 7, 4)),
    "encoder": (
        lambda lib: lib.nn.TransformerEncoder(
            lib.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False
        ),
        (2, 5, 8),
        (3, 7, 8),
    ),
    "pools": (
        lambda lib: lib.nn.Sequential(lib.nn.AvgPool2d(3, 2, padding=1), lib.nn.GroupNorm(1, 3), lib.nn.AdaptiveAvgPool2d(2)),
        (2, 3, 8, 8),
        (4, 3, 8, 8),
    ),
}  # fmt: skip


def flat(y) -> list:
    return [y] if hasattr(y, "shape") else [x for part in y for x in flat(part)]


@pytest.mark.slow
@pytest.mark.parametrize("name", NETS)
def test_a_trace_is_the_module_at_other_sizes_and_after_a_file(name):
    make, shape, other = NETS[name]
    theirs, ours = make(torch).eval(), make(badak).eval()
    ours.load_state_dict({key: badak.tensor(x.numpy()) for key, x in theirs.state_dict().items()})
    x, y = (np.random.default_rng(0).standard_normal(each).astype(np.float32) for each in (shape, other))
    traced = jit.trace(ours, badak.tensor(x))
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own modules have control flow
        expected = torch.jit.trace(theirs, torch.tensor(x), check_trace=False)(torch.tensor(y))
    file = io.BytesIO()
    traced.save(file)
    loaded = jit.load(io.BytesIO(file.getvalue()))
    assert set(loaded.state_dict()) == set(traced.state_dict()) <= set(ours.state_dict())
    for module in (traced, loaded):
        for a, b, c in zip(flat(module(badak.tensor(y))), flat(ours(badak.tensor(y))), flat(expected), strict=True):
            np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
            np.testing.assert_allclose(a.detach().numpy(), c.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_a_trace_learns_with_the_parameters_of_the_module():
    model = nn.Linear(2, 1)
    traced = jit.trace(model, badak.ones(3, 2))
    traced(badak.ones(4, 2)).sum().backward()
    assert model.weight.grad.tolist() == [[4.0, 4.0]] and traced.weight is model.weight


def test_structures_functions_and_arguments_by_name_come_through():
    def program(x, pair, scale=2.0):
        return {"sum": x + pair[0], "rest": [pair[1] * scale, (x.argmax(-1),)]}

    args = (badak.ones(2, 3), (badak.ones(2, 3), badak.ones(1)), 3.0)
    traced = jit.trace(program, args)
    file = io.BytesIO()
    jit.save(traced, file, _extra_files={"notes": "text"})
    extra = {"notes": "", "other": ""}
    loaded = jit.load(io.BytesIO(file.getvalue()), _extra_files=extra)
    found = loaded(badak.ones(5, 3), (badak.ones(5, 3), badak.ones(1)), 3.0)
    assert isinstance(loaded, jit.ScriptFunction) and extra == {"notes": "text", "other": ""}
    assert found["sum"].shape == (5, 3) and found["rest"][0].item() == 3.0 and found["rest"][1][0].tolist() == [0] * 5
    with pytest.raises(ArgumentError, match=r"traced with 3\.0"):
        loaded(*args[:2], 4.0)
    named = jit.trace(lambda a, b: a - b, example_kwarg_inputs={"a": badak.ones(2), "b": badak.zeros(2)})
    assert named(b=badak.ones(2), a=badak.zeros(2)).tolist() == [-1.0, -1.0]


def test_writes_into_memory_are_done_again():
    def program(x):
        out = badak.zeros(x.shape[0], 3)
        out[:, 0] = x[:, 0]
        out[:, 1] += 2
        return out.relu_()

    traced = jit.trace(program, badak.randn(2, 3))
    x = badak.randn(4, 3)
    assert badak.equal(traced(x), program(x)) and badak.equal(traced(x), program(x))


def test_a_trace_leaves_the_module_as_it_was():
    model = nn.BatchNorm1d(3)
    traced = jit.trace(model, badak.randn(4, 3))
    assert model.running_mean.tolist() == [0.0] * 3 and model.num_batches_tracked.item() == 0 and traced.training
    twin = nn.BatchNorm1d(3)
    x = badak.randn(6, 3)
    assert badak.equal(traced(x), twin(x)) and badak.equal(model.running_var, twin.running_var)


def test_control_flow_warns_and_a_number_that_depends_on_values_is_found():
    with pytest.warns(jit.TracerWarning, match="goes to Python"):
        traced = jit.trace(lambda x: x if x.sum() > 0 else -x, badak.ones(2))
    assert traced(-badak.ones(2)).tolist() == [-1.0, -1.0]
    with pytest.raises(jit.TracingCheckError, match="depends on values in Python"):
        jit.trace(lambda x: x + badak.tensor(np.asarray(x._array).max()), badak.rand(3))


IN_PLACES_OF_NUMBERS = {
    "linspace": lambda lib, d: lib.linspace(d[0], d[1], 5),
    "logspace": lambda lib, d: lib.logspace(0, d[0], 3, dtype=d.dtype),
    "full": lambda lib, d: lib.full((2,), d[0]),
    "full_like": lambda lib, d: lib.full_like(d, d[0]),
    "new_full": lambda lib, d: d.new_full((1, 2), d[1]),
    "fill_": lambda lib, d: lib.ones(2).fill_(d[0]),
    "masked_fill": lambda lib, d: d.masked_fill(d > 1.5, d[0]),
    "index_fill": lambda lib, d: d.index_fill(0, lib.arange(0, 3, 2), d[1]),
    "clamp": lambda lib, d: d.clamp(d[0], d[1]),
}


@pytest.mark.parametrize("name", IN_PLACES_OF_NUMBERS)
def test_a_tensor_in_the_place_of_a_number_stays_one(name):
    def made(lib):
        traced = lib.jit.trace(lambda d: IN_PLACES_OF_NUMBERS[name](lib, d), lib.tensor([0.0, 1.0, 3.0]))
        return traced(lib.tensor([1.25, 2.75, 1.0]))

    np.testing.assert_array_equal(made(badak).numpy(), made(torch).numpy())


MODEL = nn.Linear(2, 3)


def again(traced):
    """What a file of it gives."""
    file = io.BytesIO()
    traced.save(file)
    return jit.load(io.BytesIO(file.getvalue()))


def test_inputs_of_another_rank_go_to_the_program_as_it_was_traced():
    def make(lib):
        class Net(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.drop, self.scale = lib.nn.Linear(2, 2), lib.nn.Dropout(0.5), 3.0
                with lib.no_grad():
                    self.linear.weight.fill_(0.5), self.linear.bias.fill_(1.0)

            def forward(self, x):
                return self.drop(self.linear(x)).relu() * self.scale

        return Net().eval()

    found = []
    for lib in (torch, badak):
        model = make(lib)
        traced = lib.jit.trace(model, lib.ones(3, 2))
        model.train()
        model.scale = 5.0
        with lib.no_grad():
            traced.linear.bias.fill_(2.0)
        traced.linear.weight = lib.nn.Parameter(lib.ones(2, 2))
        found.append([traced(lib.ones(*shape)).tolist() for shape in ((3, 2), (2,), (1, 4, 2))])
        method = lib.jit.trace(model.linear.forward, lib.ones(3, 2))
        found[-1].append(method(lib.ones(2)).tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jit.trace(3, 4), BadakError, "expected a function"),
        (lambda: jit.trace(MODEL), ArgumentError, "expected example_inputs"),
        (lambda: jit.trace(MODEL, (3,)), ArgumentError, "expected a tensor among"),
        (lambda: jit.trace(MODEL, badak.ones(4)[:3]), BadakError, "in_features|shape"),
        (lambda: jit.trace(nn.Dropout(), badak.ones(3)), NotSupportedError, "draws random numbers"),
        (
            lambda: jit.trace(lambda x: badak.linalg.cholesky(x), badak.eye(2)),
            NotSupportedError,
            "no form for the operation linalg.Cholesky",
        ),
        (lambda: jit.trace_module(MODEL, {"other": badak.ones(2)}), NotSupportedError, "'forward'"),
        (lambda: jit.trace(MODEL, badak.ones(1, 2))(badak.ones(1, 3)), ShapeError, "in_features|shape"),
        (lambda: again(jit.trace(MODEL, badak.ones(1, 2)))(badak.ones(1, 3)), ShapeError, "traced with input of shape"),
        (lambda: again(jit.trace(MODEL, badak.ones(1, 2)))(badak.ones(2)), ShapeError, "traced with input of shape"),
        (lambda: again(jit.trace(MODEL, badak.ones(1, 2)))(badak.ones(1, 2).double()), DTypeError, "float64"),
        (lambda: jit.trace(MODEL, badak.ones(1, 2))(1, 2), ArgumentError, "another structure"),
        (lambda: jit.trace(MODEL, badak.ones(1, 2))("x"), ArgumentError, "got str"),
        (lambda: jit.save(MODEL, io.BytesIO()), NotSupportedError, "was not traced"),
        (lambda: jit.load("no such file"), BadakError, "no such file"),
        (lambda: jit.load(io.BytesIO(b"nothing")), FileError, "damaged"),
        (lambda: jit.load(io.BytesIO(badak.io.safetensors.save({"a": badak.ones(1)}))), FileError, "holds tensors, and no program"),
    ],
)
def test_a_mistake_is_explained(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\nfix: " in str(raised.value)


def test_an_archive_of_pytorch_is_refused():
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 3), torch.ones(1, 2)), file)
    assert zipfile.is_zipfile(file)
    file.seek(0)
    with pytest.raises(FileError, match="holds a program as code, which badak does not run\nfix: "):
        jit.load(file)


def changed(change) -> io.BytesIO:
    file = io.BytesIO()
    jit.trace(MODEL, badak.ones(1, 2)).save(file)
    data = file.getvalue()
    n = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + n])
    program = json.loads(header["__metadata__"]["badak.program"])
    change(program)
    header["__metadata__"]["badak.program"] = json.dumps(program)
    text = json.dumps(header).encode()
    return io.BytesIO(struct.pack("<Q", len(text)) + text + data[8 + n :])


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["nodes"][3].update(target="os.system"),
        lambda p: p["nodes"][3].update(target="Tensor.__class__"),
        lambda p: p["nodes"][3].update(op="call_module"),
        lambda p: p["nodes"][3].update(op="call_method", target="numpy"),
        lambda p: p["nodes"][1].update(target="forward.__globals__"),
        lambda p: p["nodes"][0].update(target="x, y=print(1)"),
        lambda p: p["nodes"][3].update(args={"tuple": [{"node": "output"}]}),
        lambda p: p["nodes"][3].update(args={"tuple": [{"code": "1/0"}]}),
        lambda p: p["nodes"].pop(),
        lambda p: p["nodes"].append(p["nodes"][-1]),
        lambda p: p["nodes"][1].update(name="input_1"),
        lambda p: p["call"].update(names=["a", "b"]),
        lambda p: p["call"].update(dtypes=["device"]),
        lambda p: p["call"].update(shapes=[[-1, 2]]),
        lambda p: p["call"].update(spec=["object", None, []]),
        lambda p: p.update(version=99),
    ],
)
def test_a_file_that_names_what_no_graph_names_is_damaged(change):
    with pytest.raises(FileError, match=r"the program in it is damaged \(.*\)\nfix: "):
        jit.load(changed(change))


OF_TYPES = [
    ([1], list[int]), ([1, "a"], list[int]), ([[1], [2]], list[list[int]]), ([], list[int]), ((1, 2.0), tuple[int, float]),
    ((1,), tuple[int, float]), ({"a": 1}, dict[str, int]), ({"a": "b"}, dict[str, int]), (None, int | None),
    (3, int | None), (3.0, int | str), ([1], (list[str], list[int])), (1, int), (1, list[int]),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(OF_TYPES)))
def test_isinstance_looks_into_containers(i):
    thing, kind = OF_TYPES[i]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert jit.isinstance(thing, kind) == torch.jit.isinstance(thing, kind)


@pytest.mark.filterwarnings("ignore:.*goes to Python")  # istft looks for windows that do not overlap
def test_a_spectrogram_is_traced_saved_and_read():
    class Spectrogram(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", badak.hann_window(16))

        def forward(self, x):
            bins = badak.stft(x, 16, 4, window=self.window, return_complex=True)
            back = badak.istft(
                bins * badak.polar(bins.real * 0 + 1, bins.angle() * 0), 16, 4, window=self.window, length=x.shape[-1]
            )
            return badak.view_as_real(bins.conj()), back, badak.fft.irfft(badak.fft.rfft(x)), badak.fft.fft(x).imag

    model, x, y = Spectrogram(), badak.sin(badak.arange(64.0))[None], badak.cos(badak.arange(128.0)).reshape(2, 64)
    traced, file = jit.trace(model, x), io.BytesIO()
    traced.save(file)
    for run in (traced, jit.load(io.BytesIO(file.getvalue()))):
        assert all(badak.allclose(a, b, atol=1e-5) for a, b in zip(run(y), model(y)))
    code, constants = jit.trace(lambda x: x * badak.tensor([1.0, 2.0]), badak.ones(3, 2)).code_with_constants
    assert "mul" in code and constants.c0.tolist() == [1.0, 2.0] and set(constants.const_mapping) == {"c0"}
