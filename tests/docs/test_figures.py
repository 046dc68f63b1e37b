"""The interactive figures of the guide, in a real browser: what the page computes is what badak computes."""

import json
import math
import sys

import pytest

import badak
from badak.nn import functional as F
from tests.inspect.visualize.conftest import browser, opened  # noqa: F401  (fixtures)
from tools import learn

sys.path.insert(0, str(learn.ROOT / "docs" / "_ext"))
import figures

STATIC = learn.ROOT / "docs" / "_static"
pytestmark = pytest.mark.slow
each_chapter = pytest.mark.parametrize("chapter", figures.FIGURES)


def page(chapter, language="en"):
    made = figures.figure(chapter, language)
    style, script = ((STATIC / name).read_text(encoding="utf-8") for name in ("site.css", "figures.js"))
    data = json.dumps(made, ensure_ascii=False, allow_nan=False)
    body = (
        f'<figure class="live"><figcaption>{made["caption"]}</figcaption><script type="application/json">{data}</script></figure>'
    )
    return f'<!doctype html><meta charset="utf-8"><style>{style}</style>{body}<script>{script}</script>'


def close(shown, expected):
    assert badak.allclose(badak.tensor(shown, dtype=badak.float64), expected, rtol=0, atol=1e-12)


def squares(shown):
    return [float(text) for text in shown.locator("svg text.number").all_text_contents()]


def test_each_chapter_has_a_figure():
    assert [page.stem[:2] for page in learn.pages("en")] == list(figures.FIGURES)


@each_chapter
def test_a_figure_is_drawn_in_both_languages_and_answers_its_slider(chapter, opened):  # noqa: F811
    for language in learn.LANGUAGES:
        shown = opened(page(chapter, language), width=380)
        assert shown.locator("svg rect, svg polyline").count() > 0
        assert shown.evaluate("document.documentElement.scrollWidth") <= 380
        before = shown.locator("figure").inner_html()
        if shown.locator("input").count():
            shown.locator("input").press("ArrowLeft" if chapter != "05" else "ArrowRight")
            assert shown.locator("figure").inner_html() != before


def test_the_formulas_of_the_page_are_those_of_badak(opened):  # noqa: F811
    shown = opened(page("04"))
    generator = badak.Generator().manual_seed(0)
    for scale in (1, 30, 1000):
        points = scale * badak.randn(5, 2, dtype=badak.float64, generator=generator)
        ours = F.scaled_dot_product_attention(points, points, badak.eye(5, dtype=badak.float64))
        close(shown.evaluate("([p, s]) => attentionOf(p, s)", [points.tolist(), 1 / math.sqrt(2)]), ours)
        scores = scale * badak.randn(5, 5, dtype=badak.float64, generator=generator)
        keep = badak.arange(5)[:, None] >= badak.arange(5)
        close(
            shown.evaluate("([s, k]) => maskedWeights(s, k)", [scores.tolist(), keep.tolist()]),
            F.softmax(scores.masked_fill(~keep, -math.inf), -1),
        )
        close(shown.evaluate("(x) => tempered(x, 0.3)", scores[0].tolist()), F.softmax(scores[0] / 0.3, -1))
    assert shown.evaluate("maskedWeights([[1, 2]], [[false, false]])") == [[0, 0]]  # as badak.nn: nothing to look at gives 0


def test_a_mask_that_one_paints_takes_a_key_out(opened):  # noqa: F811
    shown = opened(page("04"))
    scores, keep = badak.tensor(figures.figure("04", "en")["scores"]), badak.arange(5)[:, None] >= badak.arange(5)

    def expected():
        return [round(x, 2) for x in F.softmax(scores.masked_fill(~keep, -math.inf), -1).flatten().tolist()]

    assert squares(shown) == pytest.approx(expected(), abs=0.0101)
    shown.locator('[data-at="4,1"]').click()
    keep[4, 1] = False
    assert squares(shown) == pytest.approx(expected(), abs=0.0101) and squares(shown)[21] == 0
    at = [shown.locator(f'[data-at="0,{j}"]').bounding_box() for j in (1, 4)]
    shown.mouse.move(at[0]["x"] + 9, at[0]["y"] + 9)
    shown.mouse.down()
    shown.mouse.move(at[1]["x"] + 9, at[1]["y"] + 9, steps=30)
    shown.mouse.up()
    keep[0] = True
    assert squares(shown) == pytest.approx(expected(), abs=0.0101)


def test_dragging_a_word_changes_who_looks_at_whom(opened):  # noqa: F811
    shown = opened(page("01"))
    before, word = squares(shown), shown.locator('[data-word="0"]').bounding_box()
    shown.mouse.move(word["x"] + 5, word["y"] + 5)
    shown.mouse.down()
    shown.mouse.move(word["x"] - 120, word["y"] + 60, steps=5)
    shown.mouse.up()
    after = squares(shown)
    assert after != before and [sum(after[i : i + 4]) for i in (0, 4, 8, 12)] == pytest.approx([1] * 4, abs=0.03)


def test_the_block_plays_by_itself_to_its_end(opened):  # noqa: F811
    shown = opened(page("05"))
    shown.locator("input").fill("16")
    shown.locator("button").click()
    shown.wait_for_function("document.querySelector('output').textContent.startsWith('backward 9/9')", timeout=10_000)
    assert shown.locator("output").inner_text() == "backward 9/9: ∂L/∂x"
    assert squares(shown) == pytest.approx([x for row in figures.block(False)["states"][-1]["table"] for x in row], abs=0.0051)
