"""Draw the pictures of the guide, docs/img/learn: `python tools/learn_pictures.py [CHAPTER ...]` (needs matplotlib and Chromium).

Each is drawn from the numbers that the programs of its chapter leave behind.
"""

import sys
import warnings
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tools import learn, learn_looks

PLACE = learn.ROOT / "docs" / "img" / "learn"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8295a8"
STYLE = {
    "svg.fonttype": "none",  # letters stay letters: small files, and Korean in the reader's own font
    "svg.hashsalt": "badak",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}


def table(axes: Axes, weights: np.ndarray, rows: list[str], columns: list[str], numbers: bool = True) -> None:
    """Weights as squares, dark = much, with their words."""
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (i, j), weight in np.ndenumerate(weights) if numbers else ():
        axes.text(j, i, f"{weight:.2f}", ha="center", va="center", color="white" if weight > 0.6 else "black")


def lines(axes: Axes, weights: np.ndarray, rows: list[str], columns: list[str]) -> None:
    """Weights as lines from each word to those that it looks at, thick = much."""
    left, right = -np.arange(len(rows)), -np.arange(len(columns))
    for (i, j), weight in np.ndenumerate(weights):
        axes.plot([0, 1], [left[i], right[j]], color=BLUE, lw=8 * weight, alpha=0.15 + 0.75 * weight, solid_capstyle="round")
    for place, words, x, side in ((left, rows, -0.05, "right"), (right, columns, 1.05, "left")):
        for y, word in zip(place, words):
            axes.text(x, y, word, ha=side, va="center")
    axes.set_xlim(-0.5, 1.5)
    axes.set_ylim(min(left[-1], right[-1]) - 0.5, 0.5)
    axes.axis("off")


def attention(names: dict) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    query, key, value = (names[name].numpy() for name in ("query", "key", "value"))
    _, weights = names["attention"](query, key, value)  # as the chapter begins, before its exercise
    table(left, weights, names["words"], names["words"])
    lines(right, weights, names["words"], names["words"])
    return figure


def positions(names: dict) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    p = names["clocks"](64, 32)
    left.imshow(p, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    left.set(xlabel="number 0 .. 31", ylabel="position t")
    right.plot(p @ p[32], color=BLUE)
    right.axvline(32, color=GREY, lw=1, ls=":")
    right.set(xlabel="position t", ylabel="product with position 32", ylim=(0, 17))
    return figure


def heads(names: dict) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    words = [str(place) for place in range(6)]
    for ax, name, title in zip(axes, ("before", "after"), ("-1", "+2")):
        table(ax, names[name], words, words, numbers=False)
        ax.set_title(title)
    return figure


def masks(names: dict) -> Figure:
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    causal, padding = names["Mask"].causal(), names["Mask"].padding(names["ids"], pad=0)
    places = [str(place) for place in range(6)]
    for ax, mask, title in zip(axes, (causal, padding, causal & padding), ("causal", "padding", "causal & padding")):
        table(ax, 0.8 * mask.keep(6).reshape(-1, 6)[-6:].numpy(), places, places, numbers=False)
        ax.set_title(title)
    weights = names["F"].softmax(names["scores"].masked_fill(~names["keep"], float("-inf")), dim=-1)
    table(axes[3], weights[0, 0].numpy(), places, places, numbers=False)
    axes[3].set_title("softmax")
    return figure


def encoder(names: dict) -> Figure:
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for residual, colour, text in (True, BLUE, "x + part(x)"), (False, ORANGE, "part(x)"):
        curve = names["curves"][residual]
        axes.plot(range(1, len(curve) + 1), curve, "o-", color=colour)
        axes.text(len(curve) + 0.3, curve[-1], text, color=colour, va="center")
    axes.set(
        xlabel="layers",
        ylabel="cosine between two words",
        ylim=(-0.15, 1.1),
        xlim=(0.5, len(curve) + 3),
        xticks=range(1, 13),
    )
    return figure


def decoder(names: dict) -> Figure:
    """The cross-attention, mean of its heads, while the model of the last block writes three numbers."""
    import badak

    model, numbers = names["model"], (305, 217, 940)
    figure, axes = plt.subplots(1, len(numbers), figsize=(7, 2.8), layout="constrained")
    calls: list[tuple] = []
    hook = model.decoder.multihead_attn.register_forward_pre_hook(lambda _, args: calls.append(args))
    for ax, number in zip(axes, numbers):
        row = names["numbers"].index(number)
        text = names["write"](model, names["digits"][row : row + 1])
        word = names["spoken"](text[0])
        with badak.no_grad():
            model(names["digits"][row : row + 1], text[:, : len(word)])
            _, weights = model.decoder.multihead_attn(*calls[-1])
        table(ax, weights[0].numpy(), list(word), list(str(number)))
    hook.remove()
    return figure


def cls_or_mean(names: dict) -> Figure:
    """At whom CLS looks, mean of its heads; what each word says in the mean: its part of the answer's two numbers."""
    import badak

    ids = learn_looks.a_before_b(names)
    words = ["A" if i == names["A"] else "B" if i == names["B"] else "·" for i in ids[0].tolist()]
    inputs: list[tuple] = []
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
    with badak.no_grad():
        reader = names["models"]["CLS"]
        hook = reader.layer.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
        reader(ids)
        hook.remove()
        _, weights = reader.layer.self_attn(inputs[0], inputs[0], inputs[0])
        reader, said = names["models"]["mean of outputs"], []
        hook = reader.layer.register_forward_hook(lambda _, args, made: said.append(made[0]))
        reader(ids)
        hook.remove()
        votes = (said[0] @ (reader.answer.weight[1] - reader.answer.weight[0])).numpy()
    left.bar(range(len(words) + 1), weights[0, 0].numpy(), color=BLUE)
    left.set_xticks(range(len(words) + 1), ["CLS", *words])
    right.bar(range(len(words)), votes, color=[ORANGE if word != "·" else GREY for word in words])
    right.set_xticks(range(len(words)), words)
    right.axhline(0, color="black", lw=0.8)
    return figure


def training(names: dict) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    _, right = names["train"]()
    curves = (right, "lr 0.1", BLUE), (names["small"], "lr 0.0001", GREY), (names["squashed"], "softmax", "#009e73")
    for losses, text, colour in (
        *curves,
        (names["forgotten"], "no zero_grad", ORANGE),
        (names["large"], "lr 10", "#cc79a7"),
    ):
        axes.plot(np.clip(losses, 0, 9), color=colour, lw=1.5, label=text)  # until it is no number
    axes.axhline(np.log(10), color="black", lw=0.8, ls=":")
    axes.text(152, np.log(10), "ln 10", va="center")
    axes.set(xlabel="step", ylabel="loss", ylim=(0, 6))
    axes.legend(loc="upper right", frameon=False)
    return figure


def writing(names: dict) -> Figure:
    """The heads of the first layer on a story."""
    import badak

    story = learn_looks.STORY
    letters = ["↵" if letter == "\n" else letter for letter in story]
    figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
    inputs: list = []
    hook = names["model"].layers[0].self_attn.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    with badak.no_grad():
        names["model"](learn_looks.in_letters(names, story))
        hook.remove()
        _, weights = (
            names["model"]
            .layers[0]
            .self_attn(inputs[0], inputs[0], inputs[0], attn_mask=badak.Mask.causal(), average_attn_weights=False)
        )
    for ax, head in zip(axes, weights[0].numpy()):
        table(ax, head, letters, letters, numbers=False)
    return figure


PICTURES: dict[str, Callable[[dict], Figure]] = {
    "01-attention": attention,
    "02-positions": positions,
    "03-heads": heads,
    "04-masks": masks,
    "05-encoder": encoder,
    "06-decoder": decoder,
    "07-cls-or-mean": cls_or_mean,
    "08-training": training,
    "09-writing": writing,
}


def main(chapters: list[str]) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the browser has the letters
    with matplotlib.rc_context(STYLE):
        for page in learn.pages("en"):
            if chapters and page.stem not in chapters:
                continue
            names: dict = {}
            learn.printed(page, names)
            if page.stem in PICTURES:
                figure = PICTURES[page.stem](names)
                figure.savefig(PLACE / f"{page.stem}.svg", metadata={"Date": None})
                plt.close(figure)
            if page.stem in learn_looks.LOOKS:
                learn_looks.draw(page.stem, names, PLACE)


if __name__ == "__main__":
    main(sys.argv[1:])
