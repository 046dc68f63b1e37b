"""torch.onnx: what is written, ONNX Runtime computes as badak does: each form on samples of its operation, layers, whole models."""

import dataclasses
import io

import numpy as np
import onnx
import onnxruntime
import pytest

import badak
from badak import nn
from badak.compat.torch.onnx import FORMS
from badak.compat.torch.pytree import tree_flatten
from badak.compat.torch.tracing.sizes import name_of
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakError, NotSupportedError
from badak.models import bert, classifier, gpt, llama, seq2seq
from badak.tensor import Tensor, apply
from tests.samples import rows

onnxruntime.set_default_logger_severity(4)
ROWS = [row for row in rows() if name_of(row.op) in FORMS]
PARTLY = {  # operations of which ONNX has a part
    "Round": "to decimals", "Index": "tensors among slices that cut", "Attention": "dropout", "Norm": "p = 1 and 2",
    "RepeatInterleave": "by a tensor", "Prod": "along one axis",
}  # fmt: skip
WEIGHTS = {"LSTM": 3, "GRU": 2, "RNN": 2}  # from which input on they are weights, which are constants


class Program(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def run(written, inputs) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(written.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = {each.name for each in session.get_inputs()}
    named = {name: x for name, x in zip((each.name for each in written.model_proto.graph.input), inputs) if name in wanted}
    return session.run(None, named)


def same(found, expected, rtol=1e-4, atol=1e-5) -> None:
    expected = [y for y in tree_flatten(expected)[0] if isinstance(y, Tensor)]
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.dtype == b.detach().numpy().dtype and a.shape == tuple(b.shape)
        np.testing.assert_allclose(a, b.detach().numpy(), rtol=rtol, atol=atol)


@pytest.mark.thin(70)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row))
def test_a_form_says_what_the_operation_does(row):
    for call in row.cases():
        arrays = [None if a is None else np.array(a, order="C") for a in call.arrays(np.float32)]
        known = [a for a in arrays if a is not None]
        if (
            any(not a.size or a.dtype.kind == "c" for a in known)
            or row.op.__name__ == "LogSumExp"
            and call.attributes["axis"] is None
        ):
            continue  # ONNX has no complex numbers, and its runtime few operations on nothing
        first = WEIGHTS.get(row.op.__name__, len(arrays))
        weights = [None if a is None else Tensor._of(a) for a in arrays[first:]]
        given = [a for a in arrays[:first] if a is not None]

        def program(*inputs, arrays=arrays[:first], weights=weights, call=call):
            rest = iter(inputs)
            return apply(row.op, *(None if a is None else next(rest) for a in arrays), *weights, **call.attributes)

        tensors = tuple(map(Tensor._of, given))
        try:
            written = badak.onnx.export(Program(program), tensors)
        except BadakError:
            assert row.op.__name__ in PARTLY
            continue
        same(run(written, given), program(*tensors))


def small(config, **more):
    known = {each.name for each in dataclasses.fields(config)}
    options = dict(
        vocab_size=30,
        context=16,
        d_model=8,
        heads=2,
        layers=2,
        num_key_value_heads=1,
        feedforward=16,
        encoder_layers=1,
        decoder_layers=1,
    )
    return config(**{name: value for name, value in (options | more).items() if name in known})


def floats(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def ids(*shape):
    return np.random.default_rng(0).integers(1, 30, shape)


B, BT, BHW = {0: "batch"}, {0: "batch", 1: "length"}, {0: "batch", 2: "height", 3: "width"}
MODELS = {
    "GPT": (lambda: gpt.GPT(small(gpt.GPTConfig)), [ids(2, 6)], [BT]),
    "Llama": (lambda: llama.Llama(small(llama.LlamaConfig)), [ids(2, 6)], [BT]),
    "BERT": (lambda: bert.BERT(small(bert.BERTConfig)), [ids(2, 6)], [BT]),
    "BERTClassifier": (lambda: bert.BERTClassifier(small(bert.TextConfig)), [ids(2, 6)], [BT]),
    "SentenceEncoder": (lambda: bert.SentenceEncoder(small(bert.SentenceConfig)), [ids(2, 6)], [BT]),
    "Seq2Seq": (
        lambda: seq2seq.Seq2Seq(small(seq2seq.Seq2SeqConfig)),
        [ids(2, 6), ids(2, 4)],
        [{0: "batch", 1: "source"}, {0: "batch", 1: "target"}],
    ),
    "Classifier": (
        lambda: classifier.Classifier(small(classifier.ClassifierConfig, rows=4, row_width=4)), [floats(2, 4, 4)], [B]
    ),
    "ResNet": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 2)
        ),
        [floats(2, 3, 8, 8)],
        [B],
    ),
    "Conv": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Hardswish()), [floats(2, 3, 8, 8)], [B]),
    "ConvTranspose": (lambda: nn.ConvTranspose2d(3, 4, 3, 2, output_padding=1), [floats(2, 3, 5, 5)], [BHW]),
    "MaxPool": (lambda: nn.Sequential(nn.MaxPool2d(3, 2, padding=1), nn.InstanceNorm2d(3)), [floats(2, 3, 8, 8)], [B]),
    "LSTM": (lambda: nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True), [floats(2, 6, 4)], [BT]),
    "GRU": (lambda: nn.GRU(4, 5, batch_first=True, bias=False), [floats(2, 6, 4)], [BT]),
    "RNN": (lambda: nn.RNN(4, 5, nonlinearity="relu"), [floats(6, 2, 4)], [{0: "length", 1: "batch"}]),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [floats(2, 6, 8)] * 3, [BT] * 3),
    "Transformer": (
        lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        [floats(2, 6, 8), floats(2, 4, 8)],
        [{0: "batch", 1: "source"}, {0: "batch", 1: "target"}],
    ),
    "Embedding": (lambda: nn.Sequential(nn.Embedding(30, 4), nn.RMSNorm(4), nn.Mish()), [ids(2, 6)], [BT]),
    "Bilinear": (lambda: nn.Bilinear(3, 3, 2), [floats(2, 3), floats(2, 3)], [B, B]),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), [floats(2, 3, 4, 4)], [B]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("opset", [17, 21])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_at_other_sizes(name, opset):
    make, arrays, shapes = MODELS[name]
    badak.manual_seed(0)
    model = make().eval()
    written = badak.onnx.export(model, tuple(map(badak.tensor, arrays)), dynamic_shapes=tuple(shapes), opset_version=opset)
    onnx.checker.check_model(written.model_proto, full_check=True)
    for more in (-1, 0, 3):
        changed = []
        for x, shape in zip(arrays, shapes):
            for axis in shape:
                x = np.take(x, np.arange(x.shape[axis] + more) % x.shape[axis], axis)
            changed.append(x)
        with badak.no_grad():
            same(run(written, changed), model(*map(badak.tensor, changed)))


TRANSFORMERS = """
import io
import numpy as np, onnxruntime, torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

class MiniLM(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        states = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        keep = attention_mask.unsqueeze(-1).to(states.dtype)
        return torch.nn.functional.normalize((states * keep).sum(1) / keep.sum(1).clamp(min=1e-9), dim=-1)

torch.manual_seed(0)
small = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
bert = BertModel(small)
gpt2 = GPT2LMHeadModel(GPT2Config(
    vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=32, use_cache=False, bos_token_id=0, eos_token_id=0))
sizes = {0: "batch", 1: "length"}
for name, model in (("BERT", bert), ("MiniLM", MiniLM(bert)), ("GPT-2", gpt2)):
    inputs = {"input_ids": torch.randint(0, 50, (3, 7)), "attention_mask": torch.ones(3, 7, dtype=torch.long)}
    file = io.BytesIO()
    torch.onnx.export(model.eval(), (), file, kwargs=inputs, dynamic_shapes=dict.fromkeys(inputs, sizes))
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    worst = 0.0
    for batch, length in ((3, 7), (1, 4), (5, 12)):
        ids, mask = torch.randint(0, 50, (batch, length)), torch.ones(batch, length, dtype=torch.long)
        mask[0, length - 2:] = 0
        with torch.no_grad():
            made = model(input_ids=ids, attention_mask=mask)
        expected = [made] if isinstance(made, torch.Tensor) else list(made.values())
        found = session.run(None, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})
        worst = max(worst, *(float(np.abs(a.numpy() - b).max()) for a, b in zip(expected, found, strict=True)))
    print(name, worst < 1e-5)
"""


@pytest.mark.slow
def test_models_of_transformers_are_exported(badak_run, program):
    done = badak_run(program(TRANSFORMERS))
    assert done.out.splitlines() == ["BERT True", "MiniLM True", "GPT-2 True"], done.err


def test_names_files_and_the_older_form_of_sizes(tmp_path):
    model = nn.Linear(2, 3)
    path = tmp_path / "model.onnx"
    axes = {"x": {0: "rows"}, "y": {0: "rows"}}
    badak.onnx.export(model, badak.ones(4, 2), path, input_names=["x"], output_names=["y"], dynamic_axes=axes, dynamo=False)
    read = onnx.load(path)
    value = lambda info: (info.name, [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim])
    assert value(read.graph.input[0]) == ("x", ["rows", 2]) and value(read.graph.output[0]) == ("y", ["rows", 3])
    assert {each.name for each in read.graph.initializer} == {"weight", "bias"} and read.opset_import[0].version == 18
    found = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": floats(7, 2)})
    same(found, model(badak.tensor(floats(7, 2))))
    file = io.BytesIO()
    badak.onnx.export(model, badak.ones(4, 2), file, dynamic_axes={"input": [0]})
    assert value(onnx.load_from_string(file.getvalue()).graph.input[0]) == ("input", ["input_dim_0", 2])


def test_a_write_into_memory_is_another_value():
    class Writes(nn.Module):
        def forward(self, x):
            out = badak.zeros(x.shape[0], 3)
            out[:, 0] = x[:, 0]
            out[:, 1:] += 2
            return out.relu_()

    written = badak.onnx.export(Writes(), badak.ones(2, 3), dynamic_shapes=({0: "batch"},))
    same(run(written, [floats(5, 3)]), Writes()(badak.tensor(floats(5, 3))))


class Branch(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Cholesky(nn.Module):
    def forward(self, x):
        return badak.linalg.cholesky(x)


class Aliased(nn.Module):
    def forward(self, x):
        y = x.t()
        x.add_(1)
        return y


X = badak.ones(2, 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: badak.onnx.export(3, X), ArgumentTypeError, "expected a module"),
        (lambda: badak.onnx.export(nn.ReLU(), (3,)), ArgumentError, "expected a tensor among"),
        (lambda: badak.onnx.export(nn.ReLU(), X, opset_version=9), ArgumentError, "17 to 23; got 9"),
        (lambda: badak.onnx.export(nn.ReLU(), X, input_names=["a", "b"]), ArgumentError, "input_names for 1"),
        (lambda: badak.onnx.export(nn.ReLU(), X, output_names=[3]), ArgumentError, "output_names for 1"),
        (lambda: badak.onnx.export(nn.ReLU(), X, dynamic_axes={"z": [0]}), ArgumentError, "dynamic_axes has 'z'"),
        (lambda: badak.onnx.export(nn.ReLU(), X, dynamic_axes={"input": [7]}), ArgumentError, "of 2 dims"),
        (lambda: badak.onnx.export(nn.ReLU(), X, "no/such/folder/x.onnx"), BadakError, "no/such/folder"),
        (lambda: badak.onnx.export(nn.Dropout(), X), NotSupportedError, "draws random numbers"),
        (lambda: badak.onnx.export(Branch(), X), NotSupportedError, r"it depends on bool\(\)"),
        (lambda: badak.onnx.export(Cholesky(), badak.eye(2)), NotSupportedError, "linalg.Cholesky"),
        (lambda: badak.onnx.export(Aliased(), X), NotSupportedError, "memory that another tensor shows"),
        (lambda: badak.onnx.export(nn.Linear(2, 2).bfloat16(), X.bfloat16()), NotSupportedError, "tensors of bfloat16"),
    ],
)
def test_a_mistake_is_explained(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\nfix: " in str(raised.value)
