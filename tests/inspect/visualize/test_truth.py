"""What the microscope says of a run against what transformers on PyTorch says of the same weights."""

from functools import cache
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
import transformers as t
from torch.nn import functional as F

import badak
from badak.inspect.visualize.numbers import from_fixed_point
from badak.models.pretrained import from_pretrained

pytestmark = pytest.mark.slow

t.utils.logging.set_verbosity_error()
t.utils.logging.disable_progress_bar()

V = 61
SMALL = {"vocab_size": V, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
EAGER = {"attn_implementation": "eager", "output_attentions": True, "output_hidden_states": True}
THEIRS = {
    "gpt2": (t.GPT2Config(vocab_size=V, n_positions=24, n_embd=32, n_layer=3, n_head=4, **EAGER), t.GPT2LMHeadModel),
    "llama": (
        t.LlamaConfig(**{**SMALL, "num_key_value_heads": 2, "intermediate_size": 40}, max_position_embeddings=24, **EAGER),
        t.LlamaForCausalLM,
    ),
    "bert": (t.BertConfig(**SMALL, max_position_embeddings=24, **EAGER), t.BertForMaskedLM),
    "marian": (
        t.MarianConfig(
            vocab_size=V, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=40, decoder_ffn_dim=40, max_position_embeddings=24, scale_embedding=True,
            activation_function="swish", pad_token_id=0, eos_token_id=2,
            decoder_start_token_id=0, bos_token_id=1, forced_eos_token_id=2, **EAGER,
        ),
        t.MarianMTModel,
    ),
}  # fmt: skip
IDS = np.array([[7, 3, 9, 3, 20, 5, 40, 3, 11]])
TARGET = np.array([[4, 8, 15, 16, 23, 42]])


@cache
def both(name):
    """(the record of badak's model, what transformers' model gave, that model with its gradients) for the same loss."""
    config, kind = THEIRS[name]
    torch.manual_seed(0)
    theirs = kind(config).eval()
    with torch.no_grad():
        for key, p in theirs.named_parameters():
            if "embed_positions" not in key:  # sines, which no training changes
                p.add_(0.25 * torch.randn_like(p))
    with TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        ours = from_pretrained(folder)
    if name == "marian":
        out = theirs(input_ids=torch.tensor(IDS), decoder_input_ids=torch.tensor(TARGET))
        hidden = [*out.encoder_hidden_states, *out.decoder_hidden_states]
        given, labels = (badak.tensor(IDS), badak.tensor(TARGET)), np.roll(TARGET, -1)
    else:
        out = theirs(torch.tensor(IDS))
        hidden, given, labels = list(out.hidden_states), badak.tensor(IDS), np.roll(IDS, -1)
    labels[0, -1] = -100
    for h in hidden:
        h.retain_grad()
    loss = F.cross_entropy(out.logits[0], torch.tensor(labels[0]))
    loss.backward()
    return badak.look(ours, given, labels=badak.tensor(labels)).record, out, theirs, loss.item(), hidden


def attentions(out):
    """Every attention of transformers, (H, T, S), in the order in which they ran."""
    if not hasattr(out, "encoder_attentions"):
        return [a[0] for a in out.attentions]
    decoder = [each for pair in zip(out.decoder_attentions, out.cross_attentions) for each in pair]
    return [a[0] for a in (*out.encoder_attentions, *decoder)]


@pytest.mark.parametrize("name", THEIRS)
def test_the_matrices_are_the_attentions_of_transformers(name):
    record, out, *_ = both(name)
    theirs = attentions(out)
    assert len(record["attentions"]) == len(theirs)
    for ours, wanted in zip(record["attentions"], theirs):
        assert (len(ours["heads"]), ours["T"], ours["S"]) == tuple(wanted.shape)
        for head, p in zip(ours["heads"], wanted.detach().numpy()):
            found = from_fixed_point(head["data"], ours["code"], ours["packed"] == "lower", ours["T"], ours["S"])
            np.testing.assert_allclose(found, p, atol=2e-5)


@pytest.mark.parametrize("name", THEIRS)
def test_what_a_head_does_is_told_from_the_true_shares(name):
    record, out, *_ = both(name)
    for ours, wanted in zip(record["attentions"], attentions(out)):
        for head, p in zip(ours["heads"], wanted.detach().numpy()):
            n, s = p.shape
            entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(-1).mean()
            assert head["entropy"] == pytest.approx(entropy, rel=1e-3)
            if ours["kind"] == "self":
                assert head["scores"]["itself"] == pytest.approx(p[np.arange(n), np.arange(n)].mean(), rel=1e-3)
                assert head["scores"]["previous"] == pytest.approx(p[np.arange(2, n), np.arange(1, n - 1)].mean(), rel=1e-3)
                assert head["scores"]["first"] == pytest.approx(p[1:, 0].mean(), rel=1e-3)
            else:
                assert head["scores"]["last"] == pytest.approx(p[:, s - 1].mean(), rel=1e-3)


def ends(record):
    """The states after the embedding and after every layer, of all streams, and the last."""
    for stream in record["streams"]:
        states = stream["states"]
        last = len(states) - 1
        layers = [s["layer"] for s in states]
        yield from (s for i, s in enumerate(states) if i == 0 or i == last or layers[i] != layers[i + 1])


@pytest.mark.parametrize("name", THEIRS)
def test_the_states_of_the_stream_are_the_hidden_states_of_transformers(name):
    record, out, theirs, _, hidden = both(name)
    ours = list(ends(record))
    if name in ("gpt2", "llama"):  # the last of theirs is what the final norm gives
        hidden = hidden[:-1]
        ours = ours[:-1]
    assert len(ours) == len(hidden)
    for state, h in zip(ours, hidden):
        np.testing.assert_allclose(state["norm"], h[0].detach().norm(dim=-1).numpy(), rtol=1e-3)
        np.testing.assert_allclose(state["gradient"], h.grad[0].norm(dim=-1).numpy(), rtol=2e-3, atol=1e-6)


def lens_of(theirs, name, h):
    if name == "gpt2":
        return theirs.lm_head(theirs.transformer.ln_f(h))
    if name == "llama":
        return theirs.lm_head(theirs.model.norm(h))
    if name == "bert":
        return theirs.cls(h)
    return theirs.lm_head(h) + theirs.final_logits_bias


@pytest.mark.parametrize("name", THEIRS)
def test_the_lens_is_the_models_own_head_on_the_state_of_each_layer(name):
    record, out, theirs, _, hidden = both(name)
    if name == "marian":
        hidden = hidden[-3:]
    layers = record["lens"]["layers"]
    assert len(layers) == len(hidden)
    for number, (layer, h) in enumerate(zip(layers, hidden)):
        last = number == len(hidden) - 1
        logits = out.logits if last else lens_of(theirs, name, h)
        p = logits[0].detach().softmax(-1).numpy()
        best = out.logits[0].argmax(-1).numpy()
        np.testing.assert_allclose(layer["answer"], p[np.arange(len(p)), best], rtol=2e-3, atol=1e-6)
        for row, top in zip(p, layer["top"]):
            np.testing.assert_allclose([x for _, x in top], np.sort(row)[::-1][:5], rtol=2e-3, atol=1e-6)
            np.testing.assert_allclose([row[i] for i, _ in top], [x for _, x in top], rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("name", THEIRS)
def test_the_next_tokens_and_the_loss_are_those_of_transformers(name):
    record, out, _, loss, _ = both(name)
    assert record["loss"]["value"] == pytest.approx(loss, rel=1e-3)
    p = out.logits[0].detach().softmax(-1).numpy()
    for row, logits, top in zip(p, out.logits[0].detach().numpy(), record["predictions"]["top"]):
        np.testing.assert_allclose([x for _, x, _ in top], np.sort(row)[::-1][:10], rtol=2e-3, atol=1e-6)
        np.testing.assert_allclose([x for *_, x in top], np.sort(logits)[::-1][:10], rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("name", THEIRS)
def test_the_gradients_of_all_parameters_are_those_of_autograd(name):
    record, _, theirs, _, _ = both(name)
    ours = sum(p["norm"] ** 2 for p in record["gradients"]["parameters"]) ** 0.5
    wanted = sum(float(p.grad.square().sum()) for p in theirs.parameters() if p.grad is not None) ** 0.5
    assert ours == pytest.approx(wanted, rel=2e-3)
    layers = sum(p["norm"] ** 2 for p in record["gradients"]["layers"]) ** 0.5
    assert layers == pytest.approx(wanted, rel=2e-3)


def test_the_gradients_by_layer_are_those_of_the_layers_of_gpt2():
    record, _, theirs, _, _ = both("gpt2")
    layers = {layer["name"]: layer for layer in record["gradients"]["layers"]}
    for i, block in enumerate(theirs.transformer.h):
        wanted = sum(float(p.grad.square().sum()) for p in block.parameters()) ** 0.5
        assert layers[f"blocks.{i}"]["norm"] == pytest.approx(wanted, rel=2e-3)
