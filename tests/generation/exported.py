"""What badak and transformers make of the same folder: texts drawn, greedy and by beams, words for holes, classes, translations.

    python -m tests.generation.exported      80 prompts over runs of all kinds and six families, exported and read back by both

Every text of badak's run must be the one that badak and transformers write from the folder that was exported.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from badak.cli import main
from badak.data.tokenizer import Tokenizer
from badak.generation import GenerationConfig
from badak.generation.text import fill_sentence, generate_text
from badak.generation.translate import LONGER, MORE, translate
from badak.training.load import load_fill_mask, load_generator, load_translator, open_filler

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

GREEDY = {"temperature": 0.0, "top_k": 0}
WAYS = {  # how a text is written: in badak's words, and in those of transformers
    "greedy": (GREEDY, {"do_sample": False}),
    "drawn": ({"temperature": 0.9, "top_k": 0, "seed": 5}, {"do_sample": True, "temperature": 0.9, "top_k": 0, "top_p": 1.0}),
    "drawn, filtered": (
        {"temperature": 1.1, "top_k": 20, "top_p": 0.95, "repetition_penalty": 1.2, "seed": 5},
        {"do_sample": True, "temperature": 1.1, "top_k": 20, "top_p": 0.95, "repetition_penalty": 1.2},
    ),
    "beams": ({**GREEDY, "num_beams": 4}, {"do_sample": False, "num_beams": 4}),
}


def theirs_of(folder, kind="AutoModelForCausalLM"):
    """The model and the tokenizer of a folder, as transformers reads them, with nothing missing, spare or of another size."""
    model, about = getattr(transformers, kind).from_pretrained(folder, output_loading_info=True)
    assert not any(about.values()), about
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def written_by_theirs(model, tokenizer, prompt, tokens, **asked):
    """What follows a prompt, without marks."""
    given = tokenizer(prompt, return_tensors="pt")
    torch.manual_seed(5)
    more = {} if tokens is None else {"max_new_tokens": tokens}
    with torch.no_grad():
        made = model.generate(**given, **more, **asked)
    whole, before = (tokenizer.decode(ids, skip_special_tokens=True) for ids in (made[0], given["input_ids"][0]))
    return whole.removeprefix(before)


def written_by_ours(writer, prompt, tokens, **asked):
    """What follows a prompt."""
    config = GenerationConfig(max_new_tokens=tokens, **asked)
    _, *rest = generate_text(writer.model, writer.vocabulary, prompt, config, writer.ends)
    return "".join(rest)


def plain(text):
    """The text without the white space around it: where words are joined by spaces, one stands before the first."""
    return text.strip()


def compare_writing(run, out, prompts, tokens=12, ways=WAYS):
    """How many texts transformers, and badak from the folder, write otherwise than badak from the run; run: or a folder."""
    model, tokenizer = theirs_of(out)
    ours, again = load_generator(run), load_generator(out)
    assert ours.ends == again.ends and ours.alone == again.alone
    wrong = []
    for prompt in prompts:
        for way, (asked, said) in ways.items():
            expected = written_by_ours(ours, prompt, tokens, **asked)
            for who, text in (
                ("transformers", written_by_theirs(model, tokenizer, prompt, tokens, **said)),
                ("badak", written_by_ours(again, prompt, tokens, **asked)),
            ):
                if plain(text) != plain(expected):
                    wrong.append((who, way, prompt, expected, text))
    return wrong


def compare_filling(run, out, sentences):
    """The same of words for [MASK]."""
    model, tokenizer = theirs_of(out, "AutoModelForMaskedLM")
    wrong = []
    for sentence in sentences:
        both = [fill_sentence(one.model, one.vocabulary, sentence) for one in (open_filler(run), open_filler(out))]
        (_, expected), (_, again) = both
        ids = tokenizer(sentence, return_tensors="pt")
        place = int((ids["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
        with torch.no_grad():
            logits = model(**ids).logits[0, place]
        logits[tokenizer.all_special_ids] = -torch.inf
        chances, numbers = logits.softmax(dim=-1).topk(5)
        made = list(zip(tokenizer.convert_ids_to_tokens(numbers.tolist()), chances.tolist()))
        for who, found in (("transformers", made), ("badak", again[0])):
            close = np.allclose([p for _, p in found], [p for _, p in expected[0]], atol=1e-5)
            if [word for word, _ in found] != [word for word, _ in expected[0]] or not close:
                wrong.append((who, sentence, expected, found))
    return wrong


def compare_reading(run, out, texts, atol=1e-5):
    """The same of classes with their probabilities, or of numbers."""
    model, tokenizer = theirs_of(out, "AutoModelForSequenceClassification")
    wrong = []
    ours, again = load_fill_mask(run), load_fill_mask(out)
    assert ours.labels == again.labels
    for text, one, other in zip(texts, ours.judge(texts, words=False), again.judge(texts, words=False)):
        with torch.no_grad():
            logits = model(**tokenizer(text, return_tensors="pt", truncation=True)).logits[0]
        if ours.labels:
            label = model.config.id2label[int(logits.argmax())]
            found = label, float(logits.softmax(dim=-1).max())
        else:
            found = "", float(logits[0])
        for who, (label, value) in (("transformers", found), ("badak", (other.label, other.value))):
            if label != one.label or abs(value - one.value) > atol * max(1, abs(one.value)):
                wrong.append((who, text, (one.label, one.value), (label, value)))
    return wrong


def compare_translating(run, out, sentences):
    """The same of translations, by the folder's own number of beams."""
    model, tokenizer = theirs_of(out, "AutoModelForSeq2SeqLM")
    ours, again = load_translator(run), load_translator(out)
    assert ours.lowercase == again.lowercase and ours.config == again.config
    expected = translate(ours.model, ours.vocabulary, sentences, ours.config)
    other = translate(again.model, again.vocabulary, sentences, again.config)
    wrong = []
    for sentence, one, two in zip(sentences, expected, other):
        given = tokenizer(sentence, return_tensors="pt")
        longest = min(LONGER * given["input_ids"].shape[1] + MORE, ours.model.config.context - 1)
        with torch.no_grad():
            made = model.generate(**given, max_new_tokens=longest)
        three = tokenizer.decode(made[0], skip_special_tokens=True)
        wrong += [(who, sentence, one, text) for who, text in (("badak", two), ("transformers", three)) if text.strip() != one]
    return wrong


TEXT = "The floor is what stands below everything. From the floor one can look up; 바닥부터 위를 봅니다. "
V = 300
SIZES = {"vocab_size": V, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64}  # fmt: skip
IDS = {"bos_token_id": 1, "eos_token_id": [2, 17], "pad_token_id": 0}
t = transformers
FAMILIES = {
    "gpt2": (t.GPT2Config(vocab_size=V, n_positions=64, n_embd=32, n_layer=2, n_head=4, **IDS), "GPT2LMHeadModel"),
    "llama": (t.LlamaConfig(**SIZES, **IDS), "LlamaForCausalLM"),
    "mistral": (t.MistralConfig(**SIZES, **IDS, sliding_window=7), "MistralForCausalLM"),
    "qwen2": (t.Qwen2Config(**SIZES, **IDS, use_sliding_window=True, sliding_window=7, max_window_layers=1), "Qwen2ForCausalLM"),
    "qwen3": (t.Qwen3Config(**SIZES, **IDS, head_dim=16, tie_word_embeddings=True), "Qwen3ForCausalLM"),
}


def make_family(kind, folder, bos=True):
    """A small folder as transformers writes it: random weights that matter, a tokenizer with marks, its own way of writing."""
    config, name = FAMILIES[kind]
    torch.manual_seed(1)
    model = getattr(t, name)(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
    how = {"do_sample": True, "temperature": 0.7, "top_k": 11, "top_p": 0.9, "max_new_tokens": 9, "suppress_tokens": [0, 1, 9]}
    model.generation_config.update(**how)
    model.save_pretrained(folder)
    tokenizer = Tokenizer.train_bpe([TEXT * 3], V, ("<pad>", "<s>", "</s>"))
    if bos:
        tokenizer.surround("<s>", None)
    fast = t.PreTrainedTokenizerFast(tokenizer_object=tokenizer.library, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
                                     chat_template="{{ messages[0]['content'] }}")  # fmt: skip
    fast.save_pretrained(folder)
    return folder


SMALL = ["--data", "DATA", "--context", "48", "--d-model", "32", "--layers", "2", "--steps", "20"]
SENTENCES = ["The quick brown", "A journey of", "To be or", "Knowledge is power", "In the end"]
LATER = ["--data", "DATA", "--steps", "12", "--seq-len", "24"]
FLOOR = ["The floor is", "From the floor", "바닥부터", "look up", "The"]
HOLES = ["Great minds [MASK] alike, but they also think differently", "[MASK] speak louder than words, so let your work answer",
         "The early bird catches the [MASK] but", "Easy come, easy go, so [MASK] lightly what you win", "Many [MASK]"]  # fmt: skip
OPINIONS = ["영화가 정말 좋아요", "영화가 좀 감동적이에요", "별로였어요", "지루하고 길었습니다", "x"]
PHRASES = ["저는 학생입니다.", "안녕하세요.", " 친구는 물을 마십니다. ", "비가 옵니다.", "고양이가 책을 읽습니다"]
Case = tuple[list[str], Callable[..., list], list[str]]
RUNS: dict[str, Case] = {  # what badak train is given, what is compared, with what
    "words": (["gpt", "--preset", "sentences", "--epochs", "8", "--d-model", "32"], compare_writing, SENTENCES),
    "pieces": (["gpt", *SMALL, "--tokens", "pieces", "--vocab-size", "60"], compare_writing, FLOOR),
    "characters": (["gpt", *SMALL, "--tokens", "characters"], compare_writing, FLOOR),
    "bpe": (["gpt", *SMALL, "--tokens", "bpe", "--vocab-size", "300"], compare_writing, FLOOR),
    "wordpiece": (["gpt", *SMALL, "--tokens", "wordpiece", "--vocab-size", "60"], compare_writing, FLOOR),
    "bert": (["bert", "--epochs", "10", "--d-model", "32"], compare_filling, HOLES),
    "text": (["text", "--epochs", "3"], compare_reading, OPINIONS),
    "text of bpe": (["text", "--epochs", "3", "--tokens", "bpe"], compare_reading, OPINIONS),
    "numbers": (["text", "--epochs", "3", "--task", "regression"], compare_reading, OPINIONS),
    "translate": (["translate", "--epochs", "25"], compare_translating, PHRASES),
    "translate, norm behind": (["translate", "--epochs", "25", "--no-norm-first", "--lowercase"], compare_translating, PHRASES),
    **{name: (["gpt", "--init-from", name, *LATER], compare_writing, FLOOR) for name in FAMILIES},
}  # fmt: skip


def exported(name, place):
    """The run of this name and the folder that `badak export` makes of it, in `place`."""
    (place / "text.txt").write_text(TEXT * 60, encoding="utf-8")
    arguments = [str(place / "text.txt") if word == "DATA" else word for word in RUNS[name][0]]
    if name in FAMILIES:
        arguments[2] = str(make_family(name, place / "family"))
    run, out = place / "run", place / "out"
    assert main(["train", *arguments, "--run", str(run)]) == 0
    assert main(["export", str(run), str(out)]) == 0
    return run, out


def judge(name: str, place: Path) -> list[Any]:
    """What differs."""
    _, compare, asked = RUNS[name]
    return compare(*exported(name, place), asked)


if __name__ == "__main__":
    faults = 0
    for name, (_, _, asked) in RUNS.items():
        with tempfile.TemporaryDirectory() as place:
            wrong = judge(name, Path(place))
        faults += len(wrong)
        print(f"==== {name}: {len(asked)} prompts, {len(wrong)} differences {wrong[:3]}", flush=True)
    print(f"==== {sum(len(asked) for _, _, asked in RUNS.values())} prompts, {faults} differences")
    sys.exit(bool(faults))
