"""Sliding windows are windows: past them badak's logits, texts and gradients are those of transformers."""

import pytest
import torch
import transformers as t

import badak
from badak import models, nn
from badak.core.errors import ArgumentError, FileError
from badak.generation import GenerationConfig, generate
from tests.models.test_pretrained import GROUPED, V, close, say

pytestmark = pytest.mark.slow

LONG, WINDOW = {**GROUPED, "max_position_embeddings": 64, "num_hidden_layers": 3}, 6
IDS = torch.randint(1, V, (2, 30), generator=torch.Generator().manual_seed(1))
NONE = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
QWEN = {"use_sliding_window": True, "sliding_window": WINDOW, **NONE}
MIXED = ["sliding_attention", "full_attention", "sliding_attention"]
KINDS = {
    "mistral": (t.MistralConfig(**LONG, sliding_window=WINDOW, **NONE), t.MistralForCausalLM, [WINDOW] * 3),
    "mistral, one key": (t.MistralConfig(**LONG, sliding_window=1, **NONE), t.MistralForCausalLM, [1] * 3),
    "qwen2 from a layer on": (t.Qwen2Config(**LONG, **QWEN, max_window_layers=1), t.Qwen2ForCausalLM, [0, WINDOW, WINDOW]),
    "qwen2 without": (t.Qwen2Config(**LONG, **{**QWEN, "use_sliding_window": False}), t.Qwen2ForCausalLM, [0] * 3),
    "qwen3 by layer": (t.Qwen3Config(**LONG, **QWEN, layer_types=MIXED), t.Qwen3ForCausalLM, [WINDOW, 0, WINDOW]),
}


def pair(name, folder):
    """The model of transformers, and the one that badak reads from its folder."""
    config, kind, windows = KINDS[name]
    torch.manual_seed(0)
    model = kind(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    ours = models.from_pretrained(folder)
    assert ours.config.windows() == windows and ours.config.context == 64
    return model, ours


def written(model, ids, **asked):
    cached = getattr(model.config, "sliding_window", None) != 1  # transformers' cache keeps the last 1 - 1 = -0 keys: all
    return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=20, do_sample=False, use_cache=cached, **asked)


@pytest.mark.parametrize("name", KINDS)
def test_past_the_window_logits_gradients_and_the_cache_are_those_of_transformers(name, tmp_path):
    model, ours = pair(name, tmp_path)
    ids, expected = badak.from_numpy(IDS.numpy()), model(IDS).logits
    made = ours(ids)
    close(made, expected)
    weight = torch.randn(expected.shape, generator=torch.Generator().manual_seed(2))
    (expected * weight).sum().backward()
    (made * badak.from_numpy(weight.numpy())).sum().backward()
    close(ours.token.weight.grad, model.get_input_embeddings().weight.grad)
    with badak.no_grad():
        for parts in ([30], [1] * 30, [5, 1, 1, 10, 2, 11]):
            cache = nn.KeyValueCache(3, max_length=30)
            close(badak.cat([ours(part, cache) for part in ids.split(parts, dim=1)], dim=1), expected)


@pytest.mark.thin(1)
@pytest.mark.parametrize("name", KINDS)
def test_texts_past_the_window_are_those_of_transformers(name, tmp_path):
    model, ours = pair(name, tmp_path)
    ids = badak.from_numpy(IDS[:, :9].numpy())
    greedy = GenerationConfig(max_new_tokens=20, temperature=0.0, top_k=0)
    assert generate(ours, ids, greedy).tolist() == written(model, IDS[:, :9]).tolist()
    beams = GenerationConfig(max_new_tokens=20, num_beams=3)
    assert generate(ours, ids, beams).tolist() == written(model, IDS[:, :9], num_beams=3).tolist()
    prompts = [IDS[0, :9].tolist(), IDS[1, :4].tolist()]  # of different lengths: the window counts from each text's own places
    alone = [written(model, torch.tensor([one]))[0].tolist() for one in prompts]
    assert [one.tolist() for one in generate(ours, prompts, greedy)] == alone
    ours.compile()
    for _ in range(3):
        assert generate(ours, ids, greedy).tolist() == written(model, IDS[:, :9]).tolist()
        assert [one.tolist() for one in generate(ours, prompts, greedy)] == alone


def small(**more):
    badak.manual_seed(0)
    sizes = {"vocab_size": V, "context": 40, "d_model": 16, "heads": 4, "layers": 2, "feedforward": 24}
    model = models.Llama(models.LlamaConfig(**sizes, **{"sliding_window": 5, **more}))
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model.eval()


@pytest.mark.thin(3)
@pytest.mark.parametrize("chunk", [1, 3, 8])
@pytest.mark.parametrize("ragged", [False, True])
def test_one_recording_serves_every_length_with_a_window(chunk, ragged):
    model, more = small(), {"starts": badak.tensor([0, 2])} if ragged else {}
    step = badak.compile(lambda ids, cache, **more: model(ids, cache, **more), fullgraph=True)
    cache, twin = nn.KeyValueCache(2, 40), nn.KeyValueCache(2, 40)
    with badak.no_grad():
        for text in range(2):
            for place in range(40 // chunk):
                rows = [[(step_ * place + i + text) % V for i in range(chunk)] for step_ in (7, 3)]
                ids = badak.tensor(rows)
                assert step(ids, cache, **more).numpy().tobytes() == model(ids, twin, **more).numpy().tobytes()
            cache.rewind(), twin.rewind()
    assert len(step.recordings) == 1 and step.fallback_reason == ""


def test_a_compiled_training_step_keeps_the_window():
    def trained(compiled):
        model = small()
        model.train()
        optimizer = badak.optim.SGD(model.parameters(), lr=0.05)

        def step(ids):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            return loss

        run = badak.compile(step) if compiled else step
        ids = badak.from_numpy(IDS[:, :20].numpy())
        return [run((ids + i) % V).item() for i in range(6)]

    assert trained(True) == trained(False)


@badak.no_grad()
def test_a_mask_of_the_caller_hides_within_the_window():
    model, ids = small(), badak.from_numpy(IDS[:, :20].numpy())
    mask = badak.Mask.padding(ids, pad=int(ids[0, 12]))
    whole, cache = model(ids, mask=mask), nn.KeyValueCache(2, 20)
    parts = [model(part, cache, mask=badak.Mask.padding(ids[:, :end], pad=int(ids[0, 12])))
             for part, end in zip(ids.split([7, 13], dim=1), (7, 20))]  # fmt: skip
    close(badak.cat(parts, dim=1), torch.from_numpy(whole.numpy()))


def test_where_nothing_is_said_the_window_is_the_one_of_transformers(tmp_path):
    pair("mistral", tmp_path)
    config = (tmp_path / "config.json").read_text().replace('"sliding_window": 6,', "")
    (tmp_path / "config.json").write_text(config)
    assert t.AutoConfig.from_pretrained(tmp_path).sliding_window == 4096
    assert models.from_pretrained(tmp_path).config.sliding_window == 4096


def test_windows_that_make_no_sense_are_refused(tmp_path):
    pair("qwen2 from a layer on", tmp_path)
    for types, text in ((["chunked_attention"] * 3, "layer_types must name"), (["sliding_attention"] * 2, "2 layer_types for 3")):
        say(tmp_path, layer_types=types)
        with pytest.raises(FileError, match=text) as caught:
            models.from_pretrained(tmp_path)
        assert len(str(caught.value).splitlines()) == 2
    with pytest.raises(ArgumentError, match="sliding_window=0\nfix: sliding_window=4096"):
        models.LlamaConfig(layer_types=("sliding_attention",) * 4)
