"""Models with 8-bit weights: near the float32 ones, through files, copies and compiled steps, and what they refuse."""

import copy
import subprocess
import sys

import numpy as np
import pytest

import badak
from badak import nn
from badak.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    BadakError,
    DTypeError,
    GraphError,
    IndexOutOfRangeError,
    NoDataError,
    StateError,
)
from badak.io import safetensors
from badak.models.gpt import GPT, GPTConfig
from badak.nn.quantization import Int8Linear, LinearOf16Bits, QuantizedAttention
from badak.nn.quantized import BlockEmbedding, BlockLinear


@pytest.fixture
def encoder():
    badak.manual_seed(0)
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 96, batch_first=True), 2).eval()


@pytest.fixture
def x():
    return badak.from_numpy(np.random.default_rng(1).standard_normal((3, 7, 64)).astype(np.float32))


def off(y, expected) -> float:
    """The error in parts of the deviation of what is expected."""
    return float((y - expected).norm() / expected.norm())


def test_a_quantized_encoder_is_near_the_float32_one(encoder, x):
    expected = encoder(x)
    made = badak.quantize(encoder, badak.int8)
    assert made is encoder and 0 < off(made(x), expected) < 0.02  # 1/127 of the largest number, over eight layers
    kinds = {type(module).__name__ for module in made.modules()}
    assert "Linear" not in kinds and {"Int8Linear", "QuantizedAttention", "LayerNorm"} <= kinds
    assert not made.training and not any(p.requires_grad for p in made.parameters())


@pytest.mark.parametrize("sizes", [{}, {"kdim": 24, "vdim": 40}, {"bias": False, "add_bias_kv": True}], ids=str)
def test_attention_of_every_kind(sizes):
    badak.manual_seed(0)
    attention = nn.MultiheadAttention(32, 4, **sizes).eval()
    query = badak.randn(5, 2, 32)
    key, value = badak.randn(6, 2, attention.kdim), badak.randn(6, 2, attention.vdim)
    hidden = badak.zeros(2, 6, dtype=badak.bool)
    hidden[1, 4:] = True
    same_size = not sizes or "bias" in sizes
    calls = [(query, key, value)] + [(query, query, query)] * same_size
    expected = [attention(*call, key_padding_mask=hidden if call[1] is key else None) for call in calls]
    made = badak.quantize(nn.ModuleList([attention]))[0]
    assert type(made) is QuantizedAttention
    for call, (y, weights) in zip(calls, expected):
        found, found_weights = made(*call, key_padding_mask=hidden if call[1] is key else None)
        assert off(found, y) < 0.03 and off(found_weights, weights) < 0.03


def test_a_tied_head_gets_weights_of_its_own():
    badak.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=50, d_model=32, layers=1, context=8)).eval()
    linears = [name for name, module in model.named_modules() if type(module) is nn.Linear]
    badak.quantize(model, skip_modules=linears[:1])
    kinds = {name: type(module) for name, module in model.named_modules()}
    assert kinds[linears[0]] is nn.Linear and all(kinds[name] is Int8Linear for name in linears[1:])
    assert model.token.weight.dtype is badak.float32


def test_a_layer_under_two_names_stays_one():
    layer = nn.Linear(4, 4)
    model = badak.quantize(nn.Sequential(layer, nn.ReLU(), layer))
    assert model[0] is model[2] and type(model[0]) is Int8Linear
    alone = badak.quantize(nn.Linear(4, 4, bias=False), "int8")
    assert repr(alone) == "Int8Linear(in_features=4, out_features=4, bias=False)"


def test_files_and_copies(encoder, x, tmp_path):
    whole = tmp_path / "float32.safetensors"
    safetensors.save_file(encoder.state_dict(), whole)
    other = copy.deepcopy(encoder)
    for parameter in other.parameters():
        badak.nn.init.zeros_(parameter)
    badak.quantize(encoder)
    y = encoder(x)
    file = tmp_path / "int8.safetensors"
    safetensors.save_file(encoder.state_dict(), file)
    assert file.stat().st_size < whole.stat().st_size * 0.31  # a quarter, scales, norms and biases
    badak.quantize(other).load_state_dict(safetensors.load_file(file))
    badak.save(encoder.state_dict(), tmp_path / "int8.pt")
    third = copy.deepcopy(encoder)
    third.load_state_dict(badak.load(tmp_path / "int8.pt"), assign=True)
    for each in (other, copy.deepcopy(encoder), third):
        assert badak.equal(each(x), y)


def test_other_dtypes_of_inputs(x):
    badak.manual_seed(0)
    layer = badak.quantize(nn.Linear(64, 5))
    y = layer(x)
    assert badak.equal(layer(x.double()), y.double())
    assert badak.equal(layer(x.bfloat16()), layer(x.bfloat16().float()).bfloat16())
    for move in (lambda m: m.to(badak.float16), lambda m: m.double(), lambda m: m.bfloat16(), lambda m: m.cpu()):
        assert move(layer) is layer and layer.scale.dtype is badak.float32 and badak.equal(layer(x), y)
    with badak.autocast("cpu", dtype=badak.bfloat16):
        assert badak.equal(layer(x), y)


def test_weights_of_16_bits(encoder, x, tmp_path):
    expected, whole = encoder(x), encoder.state_dict()
    made = badak.quantize(encoder, "bfloat16")
    assert 0 < off(made(x), expected) < 0.01 and type(made.layers[0].linear1) is LinearOf16Bits
    y, one = made(x), made(x[:1, :1])
    assert y.dtype is badak.float32 and off(one, expected[:1, :1]) < 1  # a row alone takes another way
    layer = made.layers[0].linear1
    assert off(layer(x[0, :1]), layer(x[0])[:1]) < 1e-6 and layer(x.bfloat16()).dtype is badak.bfloat16
    assert badak.equal(layer(x.half()), layer(x.half().float()).half())
    state = made.state_dict()
    safetensors.save_file(state, tmp_path / "bf16.safetensors")
    made.load_state_dict(safetensors.load_file(tmp_path / "bf16.safetensors"))
    assert badak.equal(made(x), y) and layer.to(badak.float64).weight.dtype is badak.bfloat16
    attention = [name for name in whole if "in_proj_" in name]
    other = copy.deepcopy(made)
    other.load_state_dict({name.replace("in_proj_", "in_proj."): value for name, value in whole.items()})  # rounded again
    assert attention and badak.equal(other(x), y)


@pytest.mark.parametrize("form, most", [("q8", 0.02), ("q4", 0.3)])
def test_weights_in_blocks(encoder, x, form, most, tmp_path):
    expected, whole = encoder(x), copy.deepcopy(encoder)
    made = badak.quantize(encoder, form)
    assert 0 < off(made(x), expected) < most and type(made.layers[0].linear1) is BlockLinear
    assert "form=q" in repr(made.layers[0].linear1) and made.layers[0].linear1.weight.dtype is badak.uint8
    y = made(x)
    assert badak.equal(made(x[:1]), y[:1])  # the same bits in any company
    safetensors.save_file(made.state_dict(), tmp_path / "blocks.safetensors")
    other = badak.quantize(whole, form)
    other.load_state_dict(safetensors.load_file(tmp_path / "blocks.safetensors"))
    assert badak.equal(other(x), y) and badak.equal(copy.deepcopy(made)(x), y)
    layer = made.layers[0].linear1
    assert badak.equal(layer(x.double()), layer(x).double()) and badak.equal(layer(x.half()), layer(x.half().float()).half())
    for move in (lambda m: m.to(badak.float16), lambda m: m.double(), lambda m: m.cpu()):
        assert move(layer) is layer and layer.weight.dtype is badak.uint8


@pytest.mark.parametrize("form", ["q8_0", "q4_0"])
def test_an_embedding_in_blocks_is_the_tied_head_too(form):
    badak.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=50, d_model=48, heads=4, layers=1, context=8)).eval()
    ids = badak.tensor([[3, 49, 0]])
    expected = model(ids)
    badak.quantize(model, form)
    kinds = {type(module) for module in model.modules()}
    assert type(model.token) is BlockEmbedding and nn.Linear not in kinds and type(model.position) is nn.Embedding
    assert off(model(ids), expected) < 0.3
    numbers = badak.tensor(model.token.numbers())
    assert badak.equal(model.token(ids), numbers[ids]) and off(model.token.logits(numbers), numbers @ numbers.T) < 0.01
    with pytest.raises(IndexOutOfRangeError, match="Embedding has 50 rows|ids in 0"):
        model(badak.tensor([[50]]))
    left = badak.quantize(GPT(GPTConfig(vocab_size=50, d_model=48, heads=4, layers=1)), form, skip_modules=("token",))
    assert type(left.token) is nn.Embedding


OF_TRANSFORMERS = """
import badak
import torch
from badak.nn.quantized import BlockEmbedding, BlockLinear
from transformers import BertConfig, BertModel, DebertaV2Config, DebertaV2ForMaskedLM, T5Config, T5ForConditionalGeneration
from transformers import LlamaConfig, LlamaForCausalLM, OPTConfig, OPTForCausalLM

FORM = "q8_0"
small = dict(vocab_size=96, hidden_size=64, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4)
t5 = dict(vocab_size=96, d_model=64, d_kv=16, d_ff=96, num_layers=1, num_heads=4, decoder_start_token_id=0)
models = {  # whether the token embedding goes into blocks, and whether the head shares them
    LlamaForCausalLM(LlamaConfig(**small, tie_word_embeddings=True)): (True, True),
    LlamaForCausalLM(LlamaConfig(**small)): (True, False),
    OPTForCausalLM(OPTConfig(**small, ffn_dim=96, word_embed_proj_dim=64, max_position_embeddings=32)): (True, True),
    T5ForConditionalGeneration(T5Config(**t5)): (True, True),
    BertModel(BertConfig(**small)): (False, False),
    DebertaV2ForMaskedLM(DebertaV2Config(**small, legacy=False)): (False, False),
}
for model, (blocks, shared) in models.items():
    model.eval()
    ids = torch.randint(4, 96, (2, 9))
    call = dict(input_ids=ids, labels=ids) if type(model) is T5ForConditionalGeneration else dict(input_ids=ids)
    name = type(model).__name__
    with torch.no_grad():
        expected = model(**call)[0 if name == "BertModel" else "logits"]
        badak.quantize(model, FORM)
        found = model(**call)[0 if name == "BertModel" else "logits"]
    assert (found - expected).norm() < 0.05 * expected.norm(), name
    table, head = model.get_input_embeddings(), model.get_output_embeddings()
    assert isinstance(table, BlockEmbedding) is blocks, name
    assert not blocks or isinstance(head, BlockLinear) and (head.weight.data_ptr() == table.weight.data_ptr()) is shared, name
    wide = [path for path, part in model.named_modules() if type(part) is torch.nn.Linear]
    assert all(path.endswith(".wo") for path in wide) and bool(wide) is name.startswith("T5"), (name, wide)
"""


@pytest.mark.slow
def test_embeddings_of_transformers_are_in_blocks_where_the_head_is_linear(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    (tmp_path / "program.py").write_text(OF_TRANSFORMERS)
    command = [sys.executable, "-m", "badak", "run", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read as Linux tells it")
def test_the_memory_of_the_whole_weights_goes_back():
    """malloc would keep it: a process would take as much as before."""
    program = (
        "import badak, sys; from badak import nn; from pathlib import Path\n"
        "taken = lambda: int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "model = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(32)))\n"
        "before = taken(); badak.quantize(model, 'q4_0'); print((before - taken()) >> 20)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 90  # MiB of the 128 that whole weights take, next to 18 that blocks take


def test_a_gradient_goes_through_weights_in_blocks():
    badak.manual_seed(0)
    layer = badak.quantize(nn.Linear(64, 5), "q4_0")
    x = badak.randn(3, 64, requires_grad=True)
    (layer(x) * badak.arange(5.0)).sum().backward()
    expected = badak.arange(5.0) @ badak.tensor(layer.numbers()).bfloat16().float()
    assert off(x.grad, expected.expand(3, -1)) < 1e-6


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "q8_0", "q4_0"])
def test_a_compiled_model_sees_weights_that_change(rows, dtype):
    badak.manual_seed(0)
    model = badak.quantize(nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 5)), dtype)
    step = badak.compile(lambda x: model(x))
    inputs = [badak.randn(rows, 64) for _ in range(6)]
    with badak.no_grad():
        for x in inputs:
            assert badak.equal(step(x), model(x))
        assert step.fallback_reason == ""
        before = model(inputs[0])
        model[0].weight.copy_(model[0].weight.flip(0))
        assert badak.equal(step(inputs[0]), model(inputs[0])) and not badak.equal(model(inputs[0]), before)


def refused(error, cause, fix, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == f"{cause}\nfix: {fix}"


def test_what_cannot_be_quantized(encoder):
    quantize = badak.quantize
    refused(
        ArgumentTypeError,
        "quantize: expected an nn.Module; got dict",
        "badak.quantize(model, badak.int8)",
        lambda: quantize({}),
    )
    for dtype, name in ((badak.float16, "float16"), ("int4", "int4"), (8, "int")):
        with pytest.raises(DTypeError, match=f"quantize: expected int8, bfloat16, q8_0 or q4_0; got {name}\nfix: badak.quantize"):
            quantize(encoder, dtype)
    refused(
        ArgumentError,
        "quantize: Sequential holds no nn.Linear and no nn.MultiheadAttention",
        "a model with such layers; others stay in float32",
        lambda: quantize(nn.Sequential(nn.ReLU())),
    )
    with pytest.raises(ArgumentError, match="MultiheadAttention next to 0\nfix: "):
        quantize(nn.Sequential(nn.Linear(2, 2)), skip_modules="0")
    with pytest.raises(IndexOutOfRangeError, match=r"quantize: weight \(1, 131076\) has more than 131072 inputs\nfix: "):
        quantize(nn.Linear(131_076, 1))
    for empty in (nn.Linear(3, 3, device="meta"), nn.LazyLinear(3)):
        with pytest.raises(BadakError, match="\nfix: "):
            quantize(nn.Sequential(nn.Linear(2, 2), empty))
    assert issubclass(NoDataError, BadakError)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_model_that_has_diverged_stays_as_it_is(encoder, number):
    encoder.layers[1].linear2.weight.data[3, 5] = number
    refused(
        ArgumentError,
        f"quantize: layers.1.linear2.weight[3, 5] is {number}",
        "weights of a model whose training has not diverged",
        lambda: badak.quantize(encoder),
    )
    assert not any(isinstance(module, Int8Linear) for module in encoder.modules())


def test_what_a_quantized_model_refuses(encoder, x):
    state = encoder.state_dict()
    plain = copy.deepcopy(encoder)
    badak.quantize(encoder)
    refused(
        ArgumentError,
        "quantize: TransformerEncoder was quantized already (layers.0.self_attn.in_proj is Int8Linear)",
        "quantize the float32 model, once",
        lambda: badak.quantize(encoder),
    )
    refused(
        ArgumentError,
        "train: Int8Linear holds weights that cannot be trained",
        "keep the float32 model for training, and badak.quantize a copy of it",
        encoder.train,
    )
    assert not any(module.training for module in encoder.modules())
    refused(
        GraphError,
        "backward: weights of 8 or 16 bits for answering have no gradient, and their inputs get none",
        "train the float32 model, and badak.quantize it afterwards",
        lambda: encoder(x.clone().requires_grad_()).sum().backward(),
    )
    refused(
        StateError,
        "load_state_dict: layers.0.self_attn.in_proj.weight is int8 with a scale in the file, TransformerEncoder has float "
        "weights there",
        "badak.quantize(model, badak.int8) first, as it was done when the file was written",
        lambda: plain.load_state_dict(encoder.state_dict(), strict=False),
    )
    refused(
        StateError,
        "load_state_dict: layers.0.self_attn.out_proj.weight is float32 in the file, TransformerEncoder was quantized to int8",
        "load it into the model before badak.quantize(model, badak.int8)",
        lambda: encoder.load_state_dict(state, strict=False),
    )
    with pytest.raises(BadakError, match=r"takes input \(..., 64\); got input=\(3, 7, 63\)\nfix: "):
        encoder.layers[0].linear1(x[..., 1:])


@pytest.mark.parametrize("dtype", [badak.int64, badak.int8, badak.uint8, badak.bool, badak.complex64], ids=str)
@pytest.mark.parametrize("bits", ["int8", "bfloat16", "q8_0", "q4_0"])
def test_inputs_that_a_layer_of_floats_refuses_are_refused(bits, dtype):
    layer = nn.Linear(4, 3)
    x = badak.ones(2, 4).to(dtype)
    for each in (layer, badak.quantize(layer, bits)):
        with pytest.raises(DTypeError, match="\nfix: x."):
            each(x)


@pytest.mark.filterwarnings("ignore:Initializing zero-element")
def test_no_rows_and_no_outputs():
    layer = badak.quantize(nn.Linear(8, 3))
    assert layer(badak.zeros(0, 8)).shape == (0, 3) and layer(badak.zeros(2, 0, 8)).shape == (2, 0, 3)
    assert badak.quantize(nn.Linear(8, 0))(badak.zeros(2, 8)).shape == (2, 0)
    assert badak.quantize(nn.Linear(0, 3, bias=False))(badak.zeros(2, 0)).tolist() == [[0.0] * 3] * 2
