"""transformers: generate"""

import torch
import transformers
from tiny import SENTENCES, batch, model, tokenizer

EIGHT = dict(max_new_tokens=8, min_new_tokens=8)


def _gpt(**changed):
    return model("GPT2LMHeadModel", **changed)


def _first():
    return batch(SENTENCES[:1])


def _padded():
    return tokenizer(padding_side="left")(SENTENCES[:3], padding=True, return_tensors="pt", return_token_type_ids=False)


def drawn():
    """sampling: temperature, top-k, top-p, min-p, typical, epsilon, eta, top-h, several sequences, left padding"""
    ways = [
        dict(temperature=0.7),
        dict(top_k=5),
        dict(top_p=0.6),
        dict(min_p=0.01),
        dict(typical_p=0.8),
        dict(epsilon_cutoff=0.005),
        dict(eta_cutoff=0.005),
        dict(num_return_sequences=3),
        dict(top_k=0, temperature=1.5),
    ]
    gives = []
    for way in ways:
        torch.manual_seed(3)
        gives.append(_gpt().generate(**_padded(), do_sample=True, **EIGHT, **way).tolist())
    return gives


def penalties():
    """penalties and forbidden words: repetition, n-grams, bad words, sequence bias, suppressed and forced tokens, length"""
    bad = dict(bad_words_ids=[[12], [40, 41]], suppress_tokens=[20, 21], begin_suppress_tokens=[33])
    ways = [
        dict(repetition_penalty=1.8),
        dict(no_repeat_ngram_size=2),
        bad,
        dict(sequence_bias=[[[17], 3.0], [[18, 19], -9.0]]),
        dict(forced_bos_token_id=9),
        dict(forced_eos_token_id=6),
        dict(exponential_decay_length_penalty=(2, 1.5)),
        dict(renormalize_logits=True, remove_invalid_values=True),
    ]
    return [_gpt().generate(**_first(), do_sample=False, **EIGHT, **way).tolist() for way in ways]


def beams():
    """beams: several answers, length penalty, early stopping, drawn beams, sequences to sequences"""
    gives = [
        _gpt().generate(**_padded(), num_beams=4, num_return_sequences=2, length_penalty=0.5, early_stopping=True, **EIGHT).tolist()
    ]
    torch.manual_seed(4)
    gives.append(_gpt().generate(**_padded(), num_beams=3, do_sample=True, **EIGHT).tolist())
    gives.append(model("T5ForConditionalGeneration").generate(**batch(), num_beams=3, **EIGHT).tolist())
    gives.append(model("BartForConditionalGeneration").generate(**batch(), num_beams=2, no_repeat_ngram_size=2, **EIGHT).tolist())
    return gives


def assisted():
    """assisted generation: a smaller model proposes, the larger one decides; greedy and drawn"""
    large, small = model("LlamaForCausalLM"), model("LlamaForCausalLM", num_hidden_layers=1)
    greedy = large.generate(**_first(), assistant_model=small, do_sample=False, **EIGHT)
    alone = large.generate(**_first(), do_sample=False, **EIGHT)
    torch.manual_seed(5)
    drawn = large.generate(**_first(), assistant_model=small, do_sample=True, **EIGHT)
    early = large.generate(**_first(), assistant_early_exit=1, do_sample=False, **EIGHT)
    return [greedy.tolist(), torch.equal(greedy, alone), drawn.tolist(), torch.equal(early, alone)]


def prompt_lookup():
    """prompt lookup: the prompt proposes"""
    greedy = _gpt().generate(**_first(), prompt_lookup_num_tokens=3, do_sample=False, **EIGHT)
    return [greedy.tolist(), torch.equal(greedy, _gpt().generate(**_first(), do_sample=False, **EIGHT))]


def caches():
    """caches: dynamic, static, none, and a cache that is handed on"""
    llama = model("LlamaForCausalLM")
    alone = llama.generate(**_padded(), do_sample=False, **EIGHT)
    ways = dict(
        static=dict(cache_implementation="static"),
        none=dict(use_cache=False),
        static_beams=dict(cache_implementation="static", num_beams=2),
    )
    gives = {name: llama.generate(**_padded(), do_sample=False, **EIGHT, **way).tolist() for name, way in ways.items()}
    kept = transformers.DynamicCache(config=llama.config)
    first = llama.generate(**_first(), past_key_values=kept, do_sample=False, max_new_tokens=4, return_dict_in_generate=True)
    longer = llama.generate(first.sequences, past_key_values=first.past_key_values, do_sample=False, max_new_tokens=4)
    held = transformers.StaticCache(config=llama.config, max_cache_len=40)
    static = llama.generate(**_first(), past_key_values=held, do_sample=False, max_new_tokens=4)
    return [alone.tolist(), gives, longer.tolist(), static.tolist(), kept.get_seq_length()]


def streamed():
    """streamers: text as it comes, from an iterator in another thread, and token by token"""
    import contextlib
    import io
    import threading

    maker, heard = tokenizer(), io.StringIO()
    with contextlib.redirect_stdout(heard):
        _gpt().generate(**_first(), streamer=transformers.TextStreamer(maker, skip_prompt=True), do_sample=False, **EIGHT)
    stream = transformers.TextIteratorStreamer(maker, timeout=60.0)
    thread = threading.Thread(target=_gpt().generate, kwargs=dict(**_first(), streamer=stream, do_sample=False, **EIGHT))
    thread.start()
    pieces = list(stream)
    thread.join()
    return [heard.getvalue(), pieces]


class _Favour(transformers.LogitsProcessor):
    def __call__(self, input_ids, scores):
        scores = scores.clone()
        scores[:, 30:40] += 0.1
        return scores


class _Stop(transformers.StoppingCriteria):
    def __call__(self, input_ids, scores, **kwargs):
        return torch.full((input_ids.shape[0],), input_ids.shape[1] >= 16, dtype=torch.bool)


def own_processors_and_stops():
    """one's own logits processor and stopping criterion, stop strings, maximal time, allowed tokens by prefix"""
    lists = [transformers.LogitsProcessorList([_Favour()]), transformers.StoppingCriteriaList([_Stop()])]
    own = _gpt().generate(**_first(), logits_processor=lists[0], stopping_criteria=lists[1], do_sample=False, max_new_tokens=30)
    words = _gpt().generate(**_first(), tokenizer=tokenizer(), stop_strings=["a", "e"], do_sample=False, max_new_tokens=12)
    timed = _gpt().generate(**_first(), max_time=1000.0, do_sample=False, **EIGHT)
    allowed = _gpt().generate(
        **_first(), prefix_allowed_tokens_fn=lambda b, ids: [20, 21, 22 + len(ids) % 5], do_sample=False, **EIGHT
    )
    return [x.tolist() for x in (own, words, timed, allowed)]


def everything_that_it_gives():
    """return_dict_in_generate: scores, logits, attentions, hidden states; transition scores"""
    from tiny import numbers

    gpt = _gpt(attn_implementation="eager")
    given = gpt.generate(
        **_first(),
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        output_logits=True,
        output_attentions=True,
        output_hidden_states=True,
        **EIGHT,
    )
    chances = gpt.compute_transition_scores(given.sequences, given.scores, normalize_logits=True)
    return [
        numbers(torch.stack(given.scores).clamp(min=-100.0)),
        numbers(torch.stack(given.logits)),
        numbers(given.attentions[0][1]),
        numbers(given.hidden_states[2][-1]),
        numbers(chances),
    ]


def guided():
    """classifier-free guidance, watermarks, and how a watermark is found"""
    alone = _gpt().generate(**_first(), guidance_scale=1.5, do_sample=False, **EIGHT)
    mark = transformers.WatermarkingConfig(bias=2.5, context_width=1)
    marked = _gpt().generate(**_first(), watermarking_config=mark, do_sample=False, max_new_tokens=20)
    detector = transformers.WatermarkDetector(model_config=_gpt().config, device="cpu", watermarking_config=mark)
    return [alone.tolist(), marked.tolist(), [float(x) for x in detector(marked, return_dict=True).z_score]]


def from_embeddings():
    """generate from embeddings, and from nothing but the first token"""
    gpt = _gpt()
    given = gpt.get_input_embeddings()(_first()["input_ids"])
    torch.manual_seed(2)
    return [
        gpt.generate(inputs_embeds=given, do_sample=False, **EIGHT).tolist(),
        gpt.generate(do_sample=True, **EIGHT).tolist(),
    ]


def settings():
    """GenerationConfig: saved, read again, changed for one call"""
    import tempfile

    asked = transformers.GenerationConfig(
        max_new_tokens=6, do_sample=False, repetition_penalty=1.4, pad_token_id=0, eos_token_id=[6, 7]
    )
    with tempfile.TemporaryDirectory() as folder:
        asked.save_pretrained(folder)
        read = transformers.GenerationConfig.from_pretrained(folder)
    return [
        read.to_diff_dict(),
        _gpt().generate(**_first(), generation_config=read).tolist(),
        _gpt().generate(**_first(), generation_config=read, max_new_tokens=3).tolist(),
    ]


def in_half():
    """generate in bfloat16 and under inference_mode"""
    llama = model("LlamaForCausalLM").to(torch.bfloat16)
    with torch.inference_mode():
        return [llama.generate(**_first(), do_sample=False, max_new_tokens=4).tolist(), str(llama.dtype)]


def from_speech():
    """Whisper: tokens for what its feature extractor makes of a wave"""
    import numpy as np

    heard = transformers.WhisperFeatureExtractor(feature_size=8)
    sound = heard(np.random.default_rng(1).standard_normal(8000).astype(np.float32), sampling_rate=16000, return_tensors="pt")
    return model("WhisperForConditionalGeneration").generate(sound["input_features"], **EIGHT).tolist()
