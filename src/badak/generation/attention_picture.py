"""The attention of a translation as a picture: source words across, translated words down, the darker the more was looked at.

Needs matplotlib, which is the extra `plot`.
"""

import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.data.marian import SPACE, MarianTokens
from badak.data.tokenizer import Tokenizer
from badak.generation.figures import figures
from badak.generation.translate import TranslateConfig, cross_attention, framed, translations
from badak.io.atomic import write_file
from badak.io.errors import line
from badak.models.seq2seq import Seq2Seq
from badak.tensor import tensor

ENDINGS = (".png", ".svg", ".pdf")
END = "(end)"  # how the mark of a sentence's end is called


def draw_translation(
    model: Seq2Seq,
    tokenizer: Tokenizer | MarianTokens,
    sentence: str,
    path: str | os.PathLike,
    config: TranslateConfig | None = None,
    log: Callable[[str], None] = lambda line: None,
) -> str:
    """Translate a sentence, draw into `path` which words each word was made of, and give the translation.

    The weights are the mean over all layers and heads; those of the pieces of a source word are added, those of the pieces of
    a translated word are averaged. Where no font of this machine has all characters, `log` is told which are missing.
    """
    if Path(path).suffix not in ENDINGS:
        raise ArgumentError(tr("--show {}: expected a name that ends with {}", path, ", ".join(ENDINGS)), "--show=attention.png")
    rows = framed(tokenizer, [sentence])
    made = translations(model, rows, config or TranslateConfig())
    if not made:
        raise ArgumentError("the sentence is empty", "badak translate RUN 'a sentence' --show")
    source, target = rows[0], made[0]
    given = np.concatenate([[model.config.sos_id], target[:-1]])
    weights = cross_attention(model, tensor(source), tensor(given)).mean(dim=(0, 1)).numpy()  # (T, S)
    across, down = words(tokenizer, source), words(tokenizer, target)
    weights = np.add.reduceat(weights, [begin for begin, _ in across], axis=1)
    counts = np.diff([*(begin for begin, _ in down), len(target)])
    weights = np.add.reduceat(weights, [begin for begin, _ in down], axis=0) / counts[:, None]
    with figures() as figure_class:
        _draw(figure_class, weights, [word for _, word in across], [word for _, word in down], Path(path), log)
    return tokenizer.decode(target, skip_special=True).strip()


def words(tokenizer: Tokenizer | MarianTokens, ids: np.ndarray) -> list[tuple[int, str]]:
    """The words of a sentence and the place where each begins: pieces without a space before them go on with a word."""
    found: list[tuple[int, str]] = []
    begins = [0]
    for i in range(1, len(ids)):
        if ids[i] == tokenizer.eos or _starts_word(tokenizer, int(ids[i])):
            begins.append(i)
    for begin, end in zip(begins, [*begins[1:], len(ids)]):
        found.append((begin, END if ids[begin] == tokenizer.eos else line(tokenizer.decode(ids[begin:end]).strip(), 40)))
    return found


def _starts_word(tokenizer: Tokenizer | MarianTokens, number: int) -> bool:
    if isinstance(tokenizer, MarianTokens):
        return tokenizer.tokens.get(number, "").startswith(SPACE)
    return tokenizer.decode([number]).startswith(" ")


def _draw(figure_class: Any, weights: np.ndarray, across: Sequence[str], down: Sequence[str], path: Path, log: Callable) -> None:
    import matplotlib

    width, height = (0.1 * max(map(len, names)) for names in (down, across))  # of the words
    figure = figure_class(figsize=(2 + width + 0.45 * len(across), 1 + height + 0.38 * len(down)), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=max(float(weights.max()), 1e-6), aspect="auto")
    axes.set_xticks(range(len(across)), across, rotation=45, ha="left", rotation_mode="anchor", parse_math=False)
    axes.set_yticks(range(len(down)), down, parse_math=False)
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(across) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(down) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    figure.colorbar(image, ax=axes, label="attention", fraction=0.05)
    families = font_families("".join([*across, *down]), log)
    with matplotlib.rc_context({"font.family": families}):
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_fontfamily(families)
        write_file(path, lambda file: figure.savefig(file, format=path.suffix[1:], dpi=150))


def font_families(text: str, log: Callable[[str], None]) -> list[str]:
    """Fonts of this machine that have all characters of `text` together, the usual one first."""
    from matplotlib import font_manager, ft2font, get_data_path

    missing = {letter for letter in text if not letter.isspace()}
    families = ["DejaVu Sans"]
    for path in _packed_fonts():
        font_manager.fontManager.addfont(path)
    usual = str(Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"))  # whatever a list of fonts of another environment says
    fonts = [usual, *sorted({font.fname for font in font_manager.fontManager.ttflist})]
    for path in fonts:
        if not missing:
            break
        try:
            font = ft2font.FT2Font(path)
            has = {letter for letter in missing if font.get_char_index(ord(letter))}
        except (OSError, RuntimeError):  # a file that is no font, or is gone
            continue
        if has and path != usual:
            families.append(font.family_name)
        missing -= has
    if missing:
        some = "".join(sorted(missing)[:5])
        log(tr("no font of this machine has {!r}: empty boxes stand there\n"
               "fix: pip install koreanize-matplotlib brings Nanum, for Korean; or install another font that has them",
               some))  # fmt: skip
    return families


def _packed_fonts() -> list[str]:
    """The Korean fonts that the package koreanize-matplotlib brings, where it is installed."""
    found = importlib.util.find_spec("koreanize_matplotlib")
    places = found.submodule_search_locations or [] if found is not None else []
    return sorted(str(path) for place in places for path in Path(place).rglob("*.ttf"))
