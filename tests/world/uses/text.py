"""transformers: tokenizers and data collators"""

import torch
import transformers
from tiny import LABELS, SENTENCES, tokenizer


def _lists(found):
    return {name: x.tolist() if hasattr(x, "tolist") else x for name, x in found.items()}


def tokenized():
    """tokenizers with return_tensors="pt": padding, truncation, pairs, offsets, left padding, decoding"""
    maker = tokenizer(pairs=True)
    padded = maker(SENTENCES[:3], padding=True, return_tensors="pt")
    cut = maker(
        SENTENCES[:2],
        SENTENCES[2:4],
        truncation=True,
        max_length=12,
        padding="max_length",
        return_tensors="pt",
        return_offsets_mapping=True,
    )
    left = tokenizer(padding_side="left")(SENTENCES[:2], padding=True, pad_to_multiple_of=8, return_tensors="pt")
    pieces = maker(
        SENTENCES[0],
        max_length=8,
        stride=2,
        truncation=True,
        return_overflowing_tokens=True,
        padding=True,
        return_tensors="pt",
    )
    again = maker.pad({"input_ids": [[1, 2, 3], [4]]}, return_tensors="pt")
    return [
        *map(_lists, (padded, padded.to("cpu"), cut, left, pieces, again)),
        maker.batch_decode(padded["input_ids"], skip_special_tokens=True),
        padded.word_ids(1),
        str(padded["input_ids"].dtype),
    ]


def _encoded(maker):
    return [maker(text) for text in SENTENCES[:4]]


def masked_words():
    """DataCollatorForLanguageModeling and for whole words: the same seed hides the same tokens"""
    maker = tokenizer(pairs=True)
    torch.manual_seed(3)
    free = transformers.DataCollatorForLanguageModeling(maker, mlm_probability=0.3)(_encoded(maker))
    seeded = transformers.DataCollatorForLanguageModeling(maker, mlm_probability=0.3, seed=7)(_encoded(maker))
    causal = transformers.DataCollatorForLanguageModeling(maker, mlm=False)(_encoded(maker))
    return [*map(_lists, (free, seeded, causal))]


def padded_batches():
    """collators with padding: classification, tokens, sequences to sequences, flattened, the default one"""
    maker = tokenizer(pairs=True)
    texts = [dict(each) for each in _encoded(maker)]
    labelled = [dict(each, label=label) for each, label in zip(texts, LABELS)]
    tagged = [dict(each, labels=[n % 3 for n in each["input_ids"]]) for each in texts]
    target = [dict(each, labels=each["input_ids"][:4]) for each in texts]
    plain = [{"x": [1.0, 2.0], "label": 1}, {"x": [3.0, 4.0], "label": 0}]
    return [
        _lists(transformers.DataCollatorWithPadding(maker, pad_to_multiple_of=8)(labelled)),
        _lists(transformers.DataCollatorForTokenClassification(maker)(tagged)),
        _lists(transformers.DataCollatorForSeq2Seq(maker)(target)),
        _lists(transformers.DataCollatorWithFlattening()(texts)),
        _lists(transformers.default_data_collator(plain)),
        _lists(
            transformers.DataCollatorForMultipleChoice(maker)(
                [{"label": 0, "input_ids": [[1, 2], [3]]}, {"label": 1, "input_ids": [[4], [5, 6]]}]
            )
        ),
    ]


def permuted_words():
    """DataCollatorForPermutationLanguageModeling: the same order of prediction"""
    maker = tokenizer()
    texts = [{"input_ids": torch.tensor(maker(text)["input_ids"][:8])} for text in SENTENCES[:3]]
    torch.manual_seed(5)
    return _lists(transformers.DataCollatorForPermutationLanguageModeling(maker)(texts))
