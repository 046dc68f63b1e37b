"""Which head of a run of `badak train gpt` follows the owner: `python tools/story_heads.py RUN`.

In stories that the run never read, the end says who has the thing: "At night the red kite was with Nora." The query is the
token before that name. For each head this prints how much of its attention goes from there to the token that named the owner
when the thing came to them ("gave the kite to Nora", or the opening), how much to all other tokens that name a person, and in
how many stories the owner gets more than any other token.
"""

import sys
from collections.abc import Iterator

import numpy as np

import badak
from badak.data.stories import COUNT, WORDS, read_sentence, sentences_of, stories
from badak.training.build import open_model

STORIES = 100


def marked(story: str, vocabulary, language: str) -> Iterator[tuple[int, str, int | None]]:
    """(place, text, sentence's form) of each token."""
    first = 0
    for sentence in sentences_of(story):
        ids = vocabulary.encode((" " if first else "") + sentence)
        for at, token in enumerate(ids):
            yield first + at, vocabulary.decode([token]).strip(), read_sentence(sentence, language)
        first += len(ids)


def attention(model, ids: list[int]) -> np.ndarray:
    """The weights of all heads (L, H, T, T), from what each attention is given."""
    given = []
    hooks = [
        block.attention.register_forward_pre_hook(lambda module, args: given.append((module, args[0]))) for block in model.blocks
    ]
    with badak.no_grad():
        model(badak.tensor([ids]))
    for hook in hooks:
        hook.remove()
    return np.stack([weights(module, x) for module, x in given])


def weights(module, x) -> np.ndarray:
    """softmax(q k / sqrt(D)) over the keys that are not later than the query, (H, T, T)."""
    with badak.no_grad():
        q, k, _ = module.qkv(x)[0].numpy().reshape(x.shape[1], 3, module.heads, -1).transpose(1, 2, 0, 3)  # (H, T, D)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(x.shape[1], dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def followed(run: str) -> np.ndarray:
    """(3, L, H): the mean share on the owner, on other names, and the share of stories in which the owner comes first."""
    trained = open_model(run, "gpt")
    language, sums, count = trained.setup.data.language, 0.0, 0
    names = WORDS[language]["a"]
    for story in stories(language, COUNT + STORIES)[COUNT:]:
        tokens = list(marked(story, trained.vocabulary, language))
        owner = names[tokens[-1][2].slots["a"]]
        end = max(at for at, text, sentence in tokens if sentence.form == "kept" and text.startswith(owner))
        came = [(at, text) for at, text, sentence in tokens if sentence.form in ("owned", "gave") and text.startswith(owner)]
        receiver = {"owned": "a", "gave": "b"}
        came = [at for at, text in came if names[tokens[at][2].slots[receiver[tokens[at][2].form]]] == owner]
        people = [at for at, text, _ in tokens[:end] if any(text.startswith(name) for name in names) and at != came[-1]]
        ids = trained.vocabulary.encode(story).tolist()[:end]
        row = attention(trained.model, ids)[:, :, -1]  # (L, H, T)
        sums = sums + np.stack([row[..., came[-1]], row[..., people].sum(axis=-1), row.argmax(axis=-1) == came[-1]])
        count += 1
    return sums / count


if __name__ == "__main__":
    owner, others, first = followed(sys.argv[1])
    print(f"{'layer':>5}{'head':>6}{'on the owner':>14}{'on other names':>16}{'owner first in':>16}")
    for flat in np.argsort(-owner, axis=None)[:5]:
        layer, head = np.unravel_index(flat, owner.shape)
        print(f"{layer + 1:5}{head + 1:6}{owner[layer, head]:14.2f}{others[layer, head]:16.2f}{first[layer, head]:16.0%}")
