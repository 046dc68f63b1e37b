"""Records whose numbers are made up and whose shape is true: as many layers, heads and tokens as a test wants, any token at all."""

import base64

import numpy as np

CODE = 'class LayerNorm(Op):\n    """y = w h + b"""\n    capturable = True  # </script>\n'
DERIVATION = "# Layer norm\n\nOne **row**, `y`:\n\n    y = w h\n\n```python\nx = 1\n```\n"


def record(tokens, layers=2, heads=2, source=None, picture=False, dense=False):
    """A causal model of `tokens`; with a source, an encoder and a decoder; dense: full matrices and rows as long as they come."""
    random = np.random.default_rng(0)
    made = {
        "format": 1,
        "badak": "0.1.0",
        "title": "GPT: made",
        "words": [],
        "layers": [],
        "attentions": [],
        "boxes": [],
        "derivations": {},
        "model": {
            "name": "GPT",
            "kind": "encoder-decoder" if source else "causal",
            "parameters": 1326720,
            "dtype": "float32",
            "sizes": [["T", "tokens", len(tokens)], ["C", "channels", 16]],
        },
        "vocabulary": {str(i): token for i, token in enumerate(tokens)},
        "sequences": [_sequence("source", source)] if source else [],
        "kinds": {
            "LayerNorm": _kind("layer norm", ["y = w h + b"], ["g = w dy", "dx = rstd (g - mean(g))"]),
            "Attention": _kind("attention", ["o = softmax(q k^T) v"], ["dv = p^T do", "dq = ds k"]),
        },
    }
    made["derivations"]["layer_norm"] = {"title": "Layer norm", "text": DERIVATION}
    made["sequences"].append({**_sequence("target" if source else "text", tokens), "labels": [*range(1, len(tokens)), -1]})
    if picture:
        pixels = np.arange(len(tokens) * 4, dtype=np.uint8)
        made["sequences"][-1] |= {
            "name": "rows",
            "labels": None,
            "picture": {
                "width": 4,
                "height": len(tokens),
                "channels": 1,
                "pixels": _base64(pixels),
                "boxes": [[0, i, 4, 1] for i in range(len(tokens))],
            },
        }
    last = len(made["sequences"]) - 1
    made["streams"] = [
        _stream(
            random,
            made,
            index,
            "encoder" if source and index == 0 else "decoder" if source else "",
            layers,
            heads,
            dense,
        )
        for index in range(last + 1)
    ]
    made["row"] = {"sequence": last, "place": len(tokens) - 1}
    _answers(random, made, last)
    for order, box in enumerate(reversed(made["boxes"])):
        box["back"]["order"] = order
    return made


def _sequence(name, tokens):
    return {
        "name": name,
        "length": len(tokens),
        "of": len(tokens),
        "ids": [*range(len(tokens))],
        "tokens": tokens,
        "labels": None,
        "picture": None,
    }


def _kind(title, formula, backward):
    places = [
        {"floor": floor, "name": title, "file": "badak/ops/norm.py", "line": 12, "code": CODE}
        for floor in ("op", "reference", "numba")
    ]
    return {
        "title": title,
        "formula": formula,
        "backward": backward,
        "shapes": "x (..., C) -> (..., C)",
        "derivation": "layer_norm",
        "places": places,
    }


def _base64(array):
    return base64.b64encode(array.tobytes()).decode()


def _numbers(random, count):
    return [float(f"{x:.4g}") for x in random.normal(size=count)]


def _head(random, T, S, causal, focus):
    scores = random.normal(size=(T, S))
    for t in range(T):
        scores[t, min(S - 1, max(0, t - 1)) if focus == "previous" else 0] += 4
    if causal:
        scores = np.where(np.tril(np.ones((T, S), bool)), scores, -np.inf)
    p = np.exp(scores)
    p /= p.sum(-1, keepdims=True)
    q = np.round(p * 65535).astype("<u2")
    data = _base64(q[np.tril(np.ones((T, S), bool))] if causal else q)
    return {"data": data, "does": focus, "scores": {"previous": 0.81, "first": 0.1, "itself": 0.04}, "entropy": 1.21}


def _stream(random, made, index, stack, layers, heads, dense):
    """The layers of one stack: a norm and an attention each, and a cross-attention in a decoder."""
    T = made["sequences"][index]["length"]
    states = [_state(random, "embedding", None, "embedding", _box(random, made, "LayerNorm", None, "embedding", dense), T)]
    for number in range(layers):
        layer = len(made["layers"])
        made["layers"].append({"name": f"{stack or 'blocks'}.{number}", "stack": stack, "number": number})
        for part in ("attention", "cross") if stack == "decoder" else ("attention",):
            cross = part == "cross"
            _box(random, made, "LayerNorm", layer, part, dense)
            box = _box(random, made, "Attention", layer, part, dense)
            S = made["sequences"][0]["length"] if cross else T
            causal = not cross and stack != "encoder" and not dense
            made["attentions"].append(
                {
                    "layer": layer,
                    "path": f"blocks.{number}.attention",
                    "kind": "cross" if cross else "self",
                    "queries": index,
                    "box": box,
                    "keys": 0 if cross else index,
                    "T": T,
                    "S": S,
                    "scale": 0.25,
                    "causal": causal,
                    "code": "linear16",
                    "packed": "lower" if causal else "full",
                    "heads": [_head(random, T, S, causal, ("previous", "first")[h % 2]) for h in range(heads)],
                }
            )
            states.append(_state(random, f"blocks.{number}.{part}", layer, part, box, T))
    return {"sequence": index, "name": stack, "states": states}


def _state(random, name, layer, part, box, T):
    columns = {column: [abs(x) for x in _numbers(random, T)] for column in ("norm", "added", "gradient")}
    return {"name": name, "layer": layer, "part": part, "box": box, "angle": None, **columns}


def _box(random, made, kind, layer, part, dense):
    boxes, count = made["boxes"], 24 if dense else 6
    row = lambda: _numbers(random, count)
    inputs = [
        {
            "name": "x",
            "box": len(boxes) - 1 if boxes else None,
            "parameter": None,
            "shape": [1, 4, 16],
            "row": row(),
            "norm": 3.2,
        },
        {"name": "w", "box": None, "parameter": "norm.weight", "shape": [16], "row": row(), "norm": 1.0},
    ]
    back = {
        "came": {"row": row(), "norm": 0.3},
        "steps": [
            {"name": line.split(" = ")[0], "formula": line.split(" = ")[1], "values": row(), "of": 16, "why": ""}
            for line in made["kinds"][kind]["backward"]
        ],
        "goes": [
            {"to": one["name"], "box": one["box"], "parameter": one["parameter"], "row": row(), "norm": 0.2} for one in inputs
        ],
    }
    boxes.append(
        {
            "kind": kind,
            "path": f"blocks.{layer}.{kind.lower()}",
            "layer": layer,
            "part": part,
            "place": 1,
            "role": "attention" if kind == "Attention" else "norm",
            "inputs": inputs,
            "output": {"shape": [1, 4, 16], "row": row(), "norm": 2.0},
            "settings": {"eps": 1e-5},
            "sums": "",
            "steps": [{"name": "y", "formula": "w h + b", "values": row(), "of": 16, "why": ""}],
            "back": back,
        }
    )
    return len(boxes) - 1


def _answers(random, made, last):
    tokens = made["sequences"][last]["tokens"]
    T, many = len(tokens), range(min(10, len(tokens)))
    top = [[[i, 0.5 ** (i + 1), -float(i)] for i in many] for _ in tokens]
    made["predictions"] = {
        "sequence": last,
        "places": "each",
        "of": "tokens",
        "classes": None,
        "top": top,
        "entropy": [1.0] * T,
        "rank": [1] * (T - 1) + [None],
        "wanted": [0.25] * (T - 1) + [None],
    }
    layers = [
        {
            "state": i,
            "name": state["name"],
            "top": [[[j, 0.5 ** (j + 1)] for j in many][:5] for _ in tokens],
            "answer": [(i + 1) / (len(made["layers"]) + 2)] * T,
            "wanted": None,
        }
        for i, state in enumerate(made["streams"][last]["states"])
    ]
    made["lens"] = {"sequence": last, "stream": last, "places": "each", "through": ["norm", "output"], "layers": layers}
    made["loss"] = {"value": 2.345, "of": "labels", "token": None, "place": None}
    rows = [
        {"name": one["name"], "layer": i, "shape": [16, 16], "norm": 0.1 / (i + 1), "weight": 4.0}
        for i, one in enumerate(made["layers"])
    ]
    made["gradients"] = {"parameters": rows, "layers": rows}
