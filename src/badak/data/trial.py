"""What a tokenizer does to texts that its own patterns find hardest: the work of another process, see `io/limited.py`."""

import json
from typing import Any

LENGTH = 2000  # characters of each text
LETTERS, PAIRS, WHOLE = 60, 8, 20  # of the patterns: letters taken alone, those taken two by two, patterns taken as texts
USUAL = " \n\taA1é가中!_'.,-\u200b"
GROWTH = 100  # times as long as a text may become


def answer(question: dict[str, Any]) -> int:
    """Reads the parts before and behind the model, cuts and joins the texts; how many there were. Raises where a text grows."""
    import tokenizers

    made = tokenizers.Tokenizer.from_str(json.dumps(question["saved"]))
    texts = _texts(question["patterns"])
    for text in texts:
        if made.normalizer is not None:
            longer = len(made.normalizer.normalize_str(text))
            if longer > GROWTH * len(text):
                raise ValueError(f"it makes {longer:,} characters of {len(text):,}")
        made.encode(text)
        if made.decoder is not None:
            longer = len(made.decoder.decode([text[:LENGTH], text[:9]]))
            if longer > GROWTH * LENGTH:
                raise ValueError(f"it makes {longer:,} characters of {len(text):,}")
    return len(texts)


def _texts(patterns: list[str]) -> list[str]:
    letters = list(dict.fromkeys(letter for pattern in patterns for letter in pattern if letter not in "\\()[]{}|?*+^$"))[:LETTERS]
    units = [*USUAL, *letters]
    units += [a + b for a in letters[:PAIRS] for b in letters[:PAIRS] if a != b]
    units += [pattern[:LENGTH] for pattern in patterns[:WHOLE] if pattern]
    end = "\0" + "".join(letters) + "\0"  # a pattern that needs a letter is not looked for where there is none
    return [(unit * LENGTH)[:LENGTH] + end for unit in units]
