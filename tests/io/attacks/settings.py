"""JSON that lies: settings and vocabularies."""

import json

DEEP = b"[" * 200_000
DIGITS = b"9" * 5000
COMMON = {
    "nothing": (b"", "not JSON: line 1, column 1"),
    "no end": (b'{"steps": 1', "not JSON: line 1"),
    "no text": (b"\xff\xfe\x00\xd8", "not "),
    "brackets": (DEEP, "not JSON: its brackets go too deep"),
    "endless digits": (b'{"steps": ' + DIGITS + b"}", "not JSON: Exceeds the limit"),
    "a key twice": (b'{"steps": 1, "steps": 2}', "the key 'steps' stands there twice"),
    "a key of several lines twice": (b'{"a\\nb": 1, "a\\nb": 2}', r"the key 'a\nb' stands there twice"),
}


def settings(**values: object) -> bytes:
    """Settings with these values."""
    return json.dumps(values).encode()


SETTINGS = {
    **COMMON,
    "a list": (b"[1]", "expected a table of settings; got the list [1]"),
    "a key of a megabyte": (settings(**{"a" * 1_000_000: 1}), "unknown key 'aaa"),
    "many unknown keys": (settings(**{f"key{n}": 1 for n in range(50_000)}), "and 49,990 more"),
    "a value of a megabyte": (
        settings(steps="a" * 1_000_000),
        "expected steps to be an integer; got the text 'aaa",
    ),
    "a number of 4,000 digits": (
        b'{"steps": -' + b"9" * 4000 + b"}",
        "expected steps >= 1 (steps); got a number of 13,288 bits",
    ),
    "a rate of 4,000 digits": (
        b'{"lr": ' + b"9" * 4000 + b"}",
        "expected lr to be a finite number; got the integer a number",
    ),
    "no number": (b'{"lr": NaN}', "expected lr to be a finite number; got the number nan"),
    "no finite number": (b'{"lr": 1e999}', "expected lr to be a finite number; got the number inf"),
    "a truth as a number": (settings(steps=True), "expected steps to be an integer; got the boolean True"),
    "a text as a list": (settings(sizes="12"), "expected sizes to be a list"),
    "a path with a zero": (b'{"data": "a\\u0000b"}', "expected data to be a path or null"),
    "a choice of none": (settings(kind="eval"), 'expected kind to be one of "relu", "gelu"'),
    "half a letter": (b'{"kind": "\\ud800"}', "expected kind to be one of"),
    "settings in settings": (json.dumps({"more": {"more": {"more": {"steps": 0}}}}).encode(), "more.more.more.steps"),
}


def vocabulary(kind: object, tokens: object) -> bytes:
    """A vocabulary of this kind."""
    return json.dumps({"kind": kind, "tokens": tokens}).encode()


VOCABULARIES = {
    **COMMON,
    "a number": (b"5", "not a vocabulary of characters"),
    "another kind": (vocabulary("code", ["a"]), "got kind 'code'"),
    "a kind of a megabyte": (vocabulary("a" * 1_000_000, ["a"]), "got kind 'aaa"),
    "a kind that is a list": (vocabulary([[[["a"]]]], ["a"]), "got kind [[a list]]"),
    "tokens that are numbers": (vocabulary("characters", [1]), "not a vocabulary of characters"),
    "a token embedding": (vocabulary("characters", {"a": 1}), "not a vocabulary of characters"),
    "a token twice": (vocabulary("characters", ["a", "a"]), "'a' stands there twice"),
    "a character of a megabyte": (vocabulary("characters", ["a" * 1_000_000]), "expected single characters; got 'aaa"),
}
