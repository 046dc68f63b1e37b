"""Models in GGUF files: written and read again they are the same, and what a file has not is said."""

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize, quantize

import badak
from badak import models, nn
from badak.core.errors import ArgumentError, FileError
from badak.io.gguf import Stored, read_gguf, write_gguf
from badak.models.gguf import model_as_gguf, read_model
from badak.models.llama import RotaryScaling
from badak.nn.quantized import BlockEmbedding, BlockLinear, JoinedLinear, LinearOf16Bits

SIZES = {"vocab_size": 131, "context": 64, "d_model": 64, "heads": 4, "layers": 2}
LLAMA = {**SIZES, "num_key_value_heads": 2, "feedforward": 96}
CONFIGS = {
    "gpt2": models.GPTConfig(**SIZES),
    "llama": models.LlamaConfig(**LLAMA),
    "llama 3": models.LlamaConfig(**LLAMA, rotary_scaling=RotaryScaling("llama3", 8.0)),
    "linear": models.LlamaConfig(**LLAMA, rotary_scaling=RotaryScaling("linear", 4.0), tied=False),
    "qwen2": models.LlamaConfig(**LLAMA, qkv_bias=True),
    "qwen3": models.LlamaConfig(**LLAMA, qk_norm=True, head_dim=32, tied=False),
}
IDS = badak.tensor(np.random.default_rng(0).integers(0, 131, (2, 20)))


def made(name, kind="f32"):
    badak.manual_seed(1)
    config = CONFIGS[name]
    model = (models.GPT if name == "gpt2" else models.Llama)(config).eval()
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.2)
    return badak.quantize(model, kind) if kind[0] == "q" else model


def through(model, path, kind="f32"):
    write_gguf(path, *model_as_gguf(model, kind))
    return read_model(read_gguf(path), path)


@pytest.mark.parametrize("kind", ["f32", "q8_0", "q4_0"])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_model_comes_back_to_the_bit(name, kind, tmp_path):
    model = made(name, kind)
    found = through(model, tmp_path / "m.gguf")
    assert found.config == model.config and not found.training
    with badak.no_grad():
        assert badak.equal(found(IDS), model(IDS))
    assert len(gguf.GGUFReader(tmp_path / "m.gguf").tensors) > 10
    if kind != "f32":
        kinds = {type(part) for part in found.modules()}
        assert {BlockLinear, BlockEmbedding} <= kinds and nn.Linear not in kinds


@pytest.mark.parametrize("kind, kinds, most", [("f16", nn.Linear, 1e-3), ("bf16", LinearOf16Bits, 0.02)])
def test_floats_of_16_bits(kind, kinds, most, tmp_path):
    model = made("qwen3")
    found = through(model, tmp_path / "m.gguf", kind)
    assert type(found.blocks[0].attention.out) is kinds
    with badak.no_grad():
        assert float((found(IDS) - model(IDS)).norm() / model(IDS).norm()) < most


def test_weights_lie_in_the_file(tmp_path):
    found = through(made("qwen3", "q4_0"), tmp_path / "m.gguf")
    data = read_gguf(tmp_path / "m.gguf").tensors
    for part in (found.token, found.blocks[1].attention.qkv, found.blocks[0].feed_forward.gate_up):
        array = part.weight._array
        while not isinstance(array, np.memmap) and array.base is not None:
            array = array.base
        assert isinstance(array, np.memmap)
    assert found.blocks[1].attention.qkv.weight._array[:128].tobytes() == data["blk.1.attn_q.weight"].rows.tobytes()


def test_numbers_are_those_of_the_package(tmp_path):
    """Queries of Llama are interleaved in files: row 2 i + h of a head is i of its half h."""
    model = made("llama")
    path = tmp_path / "m.gguf"
    write_gguf(path, *model_as_gguf(badak.quantize(made("llama"), "q4_0")))
    theirs = {one.name: dequantize(one.data, one.tensor_type) for one in gguf.GGUFReader(path).tensors}
    q = model.blocks[0].attention.qkv.weight.detach().numpy()[:64].reshape(4, 2, 8, 64).swapaxes(1, 2).reshape(64, 64)
    expected = dequantize(quantize(q, gguf.GGMLQuantizationType.Q4_0), gguf.GGMLQuantizationType.Q4_0)
    np.testing.assert_array_equal(theirs["blk.0.attn_q.weight"], expected)


def test_parts_of_several_kinds_and_q4_k(tmp_path):
    facts, tensors = model_as_gguf(made("qwen3", "q8_0"))
    model = made("qwen3", "q8_0")
    for name, one in tensors.items():
        if "attn_v" in name:
            numbers = dequantize(one.rows, gguf.GGMLQuantizationType.Q8_0)
            tensors[name] = Stored("f32", one.shape, numbers.view(np.uint8))
    write_gguf(tmp_path / "m.gguf", facts, tensors)
    found = read_model(read_gguf(tmp_path / "m.gguf"), "m.gguf")
    assert type(found.blocks[0].attention.qkv) is JoinedLinear
    with badak.no_grad():
        assert float((found(IDS) - model(IDS)).norm() / model(IDS).norm()) < 0.02


def test_q6_k_becomes_q8_0(tmp_path):
    """As files called Q4_K_M hold it, next to other formats; written of any bytes, as the package quantizes to no q6_k."""
    random = np.random.default_rng(0)
    facts, tensors = model_as_gguf(models.Llama(models.LlamaConfig(vocab_size=64, context=32, d_model=256, heads=4, layers=1,
                                                                  feedforward=256, tied=False)))  # fmt: skip
    rows = random.integers(0, 256, (64, 210), dtype=np.uint8)
    rows[:, 208:] = np.full((64, 1), 1e-4, np.float16).view(np.uint8)
    for name in ("output.weight", "token_embd.weight"):
        tensors[name] = Stored("q6_k", (64, 256), rows)
    write_gguf(tmp_path / "m.gguf", facts, tensors)
    found = read_model(read_gguf(tmp_path / "m.gguf"), "m.gguf")
    expected = dequantize(rows, gguf.GGMLQuantizationType.Q6_K)
    for module in (found.output, found.token):
        assert module.form == "q8_0"
        error = np.linalg.norm(module.numbers() - expected) / np.linalg.norm(expected)
        assert error < 0.01
    with badak.no_grad():
        assert np.isfinite(found(badak.tensor([[1, 2, 3]])).numpy()).all()


def refused(facts, tensors, path, why):
    write_gguf(path, facts, tensors)
    with pytest.raises(FileError, match=why) as caught:
        read_model(read_gguf(path), path)
    assert len(str(caught.value).splitlines()) == 2


def test_what_a_file_has_not(tmp_path):
    path = tmp_path / "m.gguf"
    facts, tensors = model_as_gguf(made("llama"))

    def without(name):
        return {key: value for key, value in tensors.items() if key != name}

    refused(
        facts | {"general.architecture": "mamba"},
        tensors,
        path,
        "the architecture is 'mamba'; badak reads gpt2, llama, qwen2, qwen3",
    )
    refused(facts, without("blk.1.ffn_up.weight"), path, "there is no tensor blk.1.ffn_up.weight")
    refused(facts, without("token_embd.weight"), path, "there is no token_embd.weight")
    refused(facts, tensors | {"x": tensors["output_norm.weight"]}, path, "1 tensors have no place in Llama: x")
    refused(
        facts, tensors | {"blk.0.attn_norm.weight": tensors["token_embd.weight"]}, path, r"is \(131, 64\) where its facts ask for"
    )
    refused(
        {key: value for key, value in facts.items() if "block_count" not in key}, tensors, path, "block_count must be an integer"
    )
    refused(facts | {"llama.block_count": 10**6}, tensors, path, "1,000,000 layers")
    refused(facts | {"llama.context_length": 2**31}, tensors, path, "tables for 2,147,483,648 positions")
    refused(facts | {"llama.attention.head_count": 0}, tensors, path, "attention.head_count is 0")
    refused(facts | {"llama.attention.head_count": 5}, tensors, path, "heads=5 is not a multiple of num_key_value_heads=2")
    refused(facts | {"llama.rope.dimension_count": 8}, tensors, path, "rope.dimension_count is 8; this model knows 16")
    refused(facts | {"llama.rope.scaling.type": "yarn"}, tensors, path, "rope.scaling.type is 'yarn'")
    refused(facts | {"llama.expert_count": 8}, tensors, path, "it has experts")
    odd = Stored("f32", (8,), np.arange(8, dtype=np.float32)[:, None].view(np.uint8))
    refused(facts, tensors | {"rope_freqs.weight": odd}, path, "are no divisors of Llama 3's frequencies")


def test_what_has_no_architecture():
    with pytest.raises(ArgumentError, match="GGUF: no architecture for BERT\nfix: "):
        model_as_gguf(models.BERT(models.BERTConfig(vocab_size=10, d_model=8, heads=2, layers=1, context=8)))
    windowed = models.Llama(models.LlamaConfig(**LLAMA, sliding_window=8))
    with pytest.raises(ArgumentError, match="no sliding window; the model has one of 8\nfix: "):
        model_as_gguf(windowed)
    with pytest.raises(ArgumentError, match="is int8 with a scale for each row\nfix: "):
        model_as_gguf(badak.quantize(models.GPT(CONFIGS["gpt2"]), "int8"))
    with pytest.raises(ArgumentError, match="save_pretrained: token is quantized"):
        badak.quantize(models.GPT(CONFIGS["gpt2"]), "q4").save_pretrained("nowhere")
