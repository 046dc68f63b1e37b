"""LoRA: what is added to a Linear, its gradients, and the same model after merging; PyTorch and peft are the judges."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import ArgumentError, NotSupportedError, StateError
from badak.models.gpt import GPT, GPTConfig
from badak.models.llama import Llama, LlamaConfig
from badak.nn import functional as F
from badak.nn.lora import LoRALinear, add_lora, load_lora, lora_state_dict, merge_lora
from badak.nn.quantized import InBlocks


def small():
    badak.manual_seed(0)
    return nn.Sequential(nn.Linear(7, 12), nn.GELU(), nn.Linear(12, 5, bias=False))


def learned(model):
    """Adapters that have learned something: B is no longer zero."""
    for name, p in model.named_parameters():
        if name.endswith("lora_b"):
            nn.init.normal_(p)
    return model


def torch_twin(model, scale):
    """The same in PyTorch, by the formula y = W x + b + s B A x."""
    values = {name: torch.tensor(x.detach().numpy(), requires_grad="lora" in name) for name, x in model.state_dict().items()}

    def layer(name, x):
        y = torch.nn.functional.linear(x, values[f"{name}.base.weight"], values.get(f"{name}.base.bias"))
        return y + scale * (x @ values[f"{name}.lora_a"].T @ values[f"{name}.lora_b"].T)

    return values, lambda x: layer("2", torch.nn.functional.gelu(layer("0", x)))


def test_answers_and_gradients_are_those_of_the_formula():
    model = small()
    assert add_lora(model, rank=3, alpha=6) == ["0", "2"]
    learned(model)
    x = badak.randn(4, 7)
    values, twin = torch_twin(model, 2.0)
    y, expected = model(x), twin(torch.tensor(x.numpy()))
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    (y**2).sum().backward()
    (expected**2).sum().backward()
    for name, p in model.named_parameters():
        assert p.requires_grad == ("lora" in name)
        if p.requires_grad:
            np.testing.assert_allclose(p.grad.numpy(), values[name].grad.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_answers_and_gradients_are_those_of_peft():
    peft = pytest.importorskip("peft", reason="peft is not installed: pip install peft")
    theirs = torch.nn.Sequential(torch.nn.Linear(7, 12), torch.nn.GELU(), torch.nn.Linear(12, 5, bias=False))
    wrapped = peft.get_peft_model(theirs, peft.LoraConfig(r=3, lora_alpha=6, target_modules=["0", "2"]))
    model = small()
    add_lora(model, rank=3, alpha=6)
    learned(model)
    names = {"base": "base_layer", "lora_a": "lora_A.default.weight", "lora_b": "lora_B.default.weight"}
    state = {}
    for name, value in model.state_dict().items():
        number, part, *last = name.split(".")
        state[".".join(["base_model.model", number, names[part], *last])] = torch.tensor(value.detach().numpy())
    wrapped.load_state_dict(state)
    x = badak.randn(4, 7)
    y, expected = model(x), wrapped(torch.tensor(x.numpy()))
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    (y**2).sum().backward()
    (expected**2).sum().backward()
    found = {name: p.grad for name, p in wrapped.named_parameters() if p.grad is not None}
    for name, p in model.named_parameters():
        if p.requires_grad:
            number, part = name.split(".")
            other = found.pop(f"base_model.model.{number}.{names[part]}")
            np.testing.assert_allclose(p.grad.numpy(), other.numpy(), rtol=1e-4, atol=1e-4)
    assert not found
    merged = wrapped.merge_and_unload()(torch.tensor(x.numpy())).detach().numpy()
    np.testing.assert_allclose(merge_lora(model)(x).detach().numpy(), merged, rtol=1e-5, atol=1e-5)


def test_a_model_begins_as_it_was_and_merging_changes_no_answer():
    badak.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=11, context=8, d_model=16, heads=2, layers=2)).eval()
    ids = badak.randint(0, 11, (2, 8))
    before = model(ids)
    names = add_lora(model, rank=4, targets=["qkv", "feed_forward.down"])
    assert names == [f"blocks.{i}.{end}" for i in (0, 1) for end in ("attention.qkv", "feed_forward.down")]
    assert (model(ids) == before).all()
    learned(model)
    apart = model(ids)
    assert not badak.allclose(apart, before)
    merge_lora(model)
    assert not any(isinstance(part, LoRALinear) for part in model.modules()) and all(p.requires_grad for p in model.parameters())
    assert badak.allclose(model(ids), apart, rtol=1e-4, atol=1e-5)


def test_adapters_are_kept_alone_and_taken_back():
    model = small()
    add_lora(model, rank=2)
    learned(model)
    kept = {name: x.clone() for name, x in lora_state_dict(model).items()}
    assert {name: tuple(x.shape) for name, x in kept.items()} == {
        "0.lora_a": (2, 7), "0.lora_b": (12, 2), "2.lora_a": (2, 12), "2.lora_b": (5, 2)
    }  # fmt: skip
    other = small()
    add_lora(other, rank=2)
    load_lora(other, kept)
    x = badak.randn(3, 7)
    assert (other(x) == model(x)).all()
    for wrong in ({}, {**kept, "0.lora_a": badak.zeros(3, 7)}, {**kept, "1.lora_a": badak.zeros(2, 7)}):
        with pytest.raises(StateError, match=r"load_lora: not the adapters of this model: .*\nfix: add_lora with the rank"):
            load_lora(other, wrong)
    with pytest.raises(StateError, match="not the adapters of this model"):
        load_lora(small(), kept)


@pytest.mark.parametrize(
    "call, cause",
    [
        (lambda: add_lora(small(), 0), "expected a rank of 1 or more; got 0"),
        (lambda: add_lora(small(), 2, targets=["qkv"]), r"no Linear layer is called 'qkv'\nfix: one of 0, 2"),
        (lambda: add_lora(nn.GELU(), 2), "the model has no Linear layer inside of it"),
        (lambda: add_lora(nn.Linear(2, 2), 2), "the model has no Linear layer inside of it"),
        (lambda: add_lora(nn.TransformerEncoderLayer(8, 2), 2, targets=["out_proj"]), "is read by MultiheadAttention itself"),
    ],
)
def test_what_cannot_have_adapters_is_refused(call, cause):
    with pytest.raises(ArgumentError, match=cause) as told:
        call()
    assert len(str(told.value).split("\n")) == 2


def test_the_attention_of_an_encoder_is_left_as_it_is():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x = badak.randn(2, 3, 8)
    before = layer(x)
    assert add_lora(layer, 2) == ["linear1", "linear2"]
    assert (layer(x) == before).all()
    learned(layer)
    assert not badak.allclose(layer(x), before)


@pytest.mark.parametrize("form", ["q8", "q4"])
def test_adapters_learn_next_to_weights_in_blocks(form):
    """QLoRA: gradients are those of adapters next to the numbers of the blocks, to the rounding of their inputs."""
    badak.manual_seed(0)
    sizes = {"vocab_size": 50, "context": 17, "d_model": 32, "heads": 2, "layers": 1, "feedforward": 64}
    model = badak.quantize(Llama(LlamaConfig(**sizes)), form)
    names, twin = add_lora(model, 4), Llama(LlamaConfig(**sizes))
    add_lora(twin, 4)
    with badak.no_grad():
        for name, part in model.named_modules():
            if isinstance(part, InBlocks):
                twin.get_submodule(name).weight.copy_(badak.tensor(part.numbers()))
        twin.load_state_dict({k: x.normal_(std=0.1) for k, x in lora_state_dict(model).items()}, strict=False)
    model.train()
    ids = badak.tensor(np.random.default_rng(0).integers(0, 50, (3, 17)))
    losses = []
    for one in (model, twin):
        losses.append(F.cross_entropy(one(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()))
        losses[-1].backward()
    assert abs(float(losses[0] - losses[1])) < 0.01 and len(names) == 4
    learning = {name: p for name, p in model.named_parameters() if p.requires_grad}
    assert learning and all("lora_" in name for name in learning)
    for name, p in learning.items():
        expected = twin.get_parameter(name).grad
        assert float((p.grad - expected).norm() / expected.norm()) < 0.06, name
    model.eval()
    before = model(ids)
    merged = merge_lora(model)
    assert not any(isinstance(part, InBlocks) for part in merged.modules())
    assert float((merged(ids) - before).norm() / before.norm()) < 0.03


def test_weights_in_blocks_alone_do_not_train():
    model = badak.quantize(nn.Sequential(nn.Linear(32, 4)), "q4")
    with pytest.raises(ArgumentError, match="train: BlockLinear holds weights that cannot be trained\nfix: "):
        model.train()


TOLD = "weights in blocks cannot be added to, so adapters cannot be merged into them.*\nfix: badak.nn.lora.merge_lora"
ADDS = {
    "data": lambda layer, delta: exec("layer.weight.data += delta", {"layer": layer, "delta": delta}),
    "a copy": lambda layer, delta: exec("copy = layer.weight.data.clone()\ncopy += delta", {"layer": layer, "delta": delta}),
    "back": lambda layer, delta: exec("layer.weight.data -= delta", {"layer": layer, "delta": delta}),
    "a sum": lambda layer, delta: layer.weight + delta,
    "a sum from the right": lambda layer, delta: 1 + layer.weight,
    "add_": lambda layer, delta: layer.weight.data.add_(delta),
}


@pytest.mark.parametrize("form", ["q8", "q4"])
@pytest.mark.parametrize("how", ADDS)
def test_adding_to_weights_in_blocks_says_why_it_cannot_be(form, how):
    layer = badak.quantize(nn.Sequential(nn.Linear(32, 4)), form)[0]
    before = layer.numbers()
    for one in (layer, copy.deepcopy(layer)):
        with pytest.raises(NotSupportedError, match=TOLD) as told:
            ADDS[how](one, badak.ones(4, 32))
        assert len(str(told.value).split("\n")) == 2
    assert (layer.numbers() == before).all()


def test_weights_in_blocks_are_otherwise_what_they_were():
    layer = badak.quantize(nn.Sequential(nn.Linear(32, 4)), "q4")[0]
    assert (
        layer.weight.dtype is badak.uint8 and layer.weight.shape == (4, 18) and type(layer.state_dict()["weight"]) is badak.Tensor
    )
    with badak.no_grad():
        layer.weight.copy_(layer.weight.clone())
        layer.weight.data = layer.weight.data
    again = pickle.loads(pickle.dumps(layer))
    assert (again.numbers() == layer.numbers()).all() and (again(badak.ones(1, 32)) == layer(badak.ones(1, 32))).all()


PEFT = """
import badak
import torch
from badak.nn.lora import merge_lora
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

def base():
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4}
    return badak.quantize(LlamaForCausalLM(LlamaConfig(vocab_size=100, **sizes)), "q4")

model = get_peft_model(base(), LoraConfig(r=4, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM")).train()
ids = torch.randint(0, 100, (4, 16))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-2)
losses = []
for _ in range(20):
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] - 0.3, losses
assert model.base_model.model.model.layers[0].self_attn.q_proj.base_layer.form == "q4_0"
learned = model.eval()(input_ids=ids).logits
model.save_pretrained("adapter")
again = PeftModel.from_pretrained(base(), "adapter").eval()
assert torch.equal(again(input_ids=ids).logits, learned)
with again.disable_adapter():
    assert torch.equal(again(input_ids=ids).logits, base().eval()(input_ids=ids).logits)
for safe in (False, True):
    try:
        again.merge_and_unload(safe_merge=safe)
    except NotImplementedError as error:
        assert "merge_lora" in str(error), error
    else:
        raise AssertionError("merged")
merge_lora(again)
whole = again(input_ids=ids).logits
assert (again.merge_and_unload()(input_ids=ids).logits - whole).abs().max() < 1e-4
assert (whole - learned).abs().max() < 0.05 * learned.abs().max()
"""


@pytest.mark.slow
def test_peft_adapts_weights_in_blocks(tmp_path):
    pytest.importorskip("peft", reason="peft is not installed: pip install peft")
    (tmp_path / "program.py").write_text(PEFT)
    command = [sys.executable, "-m", "badak", "run", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
