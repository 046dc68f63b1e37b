"""The page as a person meets it: seen, hovered, clicked, typed at, printed. In a real browser."""

import io
import re

import numpy as np
import pytest
from PIL import Image

import badak
from badak.inspect.visualize.page import page
from badak.models.classifier import ClassifierConfig, build_classifier
from badak.models.gpt import GPT, GPTConfig
from badak.models.seq2seq import Seq2Seq, Seq2SeqConfig
from tests.inspect.visualize.conftest import chromium
from tests.inspect.visualize.made import record

pytestmark = pytest.mark.slow

TOKENS = ["The", " cat", " sat", " on", " the", " mat"]
VIEW = "document.documentElement"
FLOORS = """[...document.querySelectorAll('.chip')].map((chip) => {
    chip.click();
    document.querySelectorAll('#floor details').forEach((closed) => closed.remove());
    const floor = document.getElementById('floor');
    return floor.textContent + [...floor.querySelectorAll('[role=math]')].map((one) => ' ' + one.title).join('');
})"""


def text(page, where):
    return page.locator(where).first.inner_text()


def colours(screenshot) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(screenshot)).convert("RGB")).reshape(-1, 3)


def test_without_chromium_ci_fails_with_a_sentence_and_others_are_told_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Chromium: .* apt-get install chromium brings it"):
        chromium()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no Chromium"):
        chromium()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
def test_a_page_is_drawn_in_full_and_is_as_wide_as_the_screen(opened, width, scheme):
    shown = opened(page(record(TOKENS)), width, scheme)
    for part in ("input", "of-attention", "of-model", "of-lens", "of-gradients"):
        assert shown.locator(f"section.{part}").is_visible(), part
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    pixels = colours(shown.screenshot(full_page=True))
    assert len(np.unique(pixels @ [65536, 256, 1])) > 100  # pictures, not an empty sheet
    dark = pixels.mean() < 128
    assert dark == (scheme == "dark")


def test_hovering_a_token_shows_its_lines_alone_and_pinning_keeps_them(opened):
    shown = opened(page(record(TOKENS)))
    last = shown.locator(".lines .word.query").nth(5)
    away = shown.locator(".lines path.away")
    assert away.count() == 0
    last.hover()
    assert away.count() > 0
    notes = [note for note in shown.locator(".lines .word.key .note").all_text_contents() if note]
    assert notes and all(note.endswith("%") for note in notes)
    assert sum(float(note.strip(" %<")) for note in notes) == pytest.approx(100, abs=5)
    shown.mouse.move(5, 5)
    assert away.count() == 0
    last.click()
    shown.mouse.move(5, 5)
    assert away.count() > 0
    assert shown.locator(".strip .token.pinned").inner_text().startswith("·mat")
    shown.keyboard.press("Escape")
    assert away.count() == 0


def test_the_matrix_tells_the_cell_under_the_mouse_and_under_the_arrows(opened):
    made = record(TOKENS)
    shown = opened(page(made))
    stack = shown.locator(".matrix .stack")
    box = stack.bounding_box()
    stack.hover(position={"x": box["width"] - 4, "y": box["height"] - 4})
    assert re.fullmatch("“·mat” looks at “·mat”: .* %", text(shown, ".matrix figcaption"))
    shown.mouse.move(5, 5)
    stack.focus()
    shown.keyboard.press("ArrowUp")
    shown.keyboard.press("ArrowLeft")
    assert re.fullmatch("“·the” looks at “·the”: .* %", text(shown, ".matrix figcaption"))


def test_two_heads_are_compared_beside_each_other(opened):
    shown = opened(page(record(TOKENS)))
    assert shown.locator(".matrix").count() == 1
    shown.keyboard.press("c")
    shown.locator(".thumbnail").nth(3).click()
    assert shown.locator(".matrix").count() == 2 and shown.locator(".lines path.b").count() > 0
    assert "layer 2, head 2" in text(shown, ".card.b")
    assert re.search(r"differ in \d+ %", text(shown, ".apart"))
    shown.locator(".thumbnail").nth(1).click(modifiers=["Shift"])
    assert "layer 1, head 2" in text(shown, ".card.b")
    shown.keyboard.press("c")
    assert shown.locator(".matrix").count() == 1


def test_self_and_cross_attention_of_a_translation(opened):
    shown = opened(page(record(TOKENS, source=["Die", " Katze", " sass"])))
    assert shown.locator(".tabs button").count() == 3 and shown.locator(".strip").count() == 2
    shown.locator(".tabs button").nth(2).click()
    assert shown.locator(".lines .word.query").count() == 6 and shown.locator(".lines .word.key").count() == 3
    shown.locator(".lines .word.key").nth(1).hover()
    assert [note for note in shown.locator(".lines .word.query .note").all_text_contents() if note]


def test_the_parts_of_a_picture_are_shown_themselves(opened):
    shown = opened(page(record([f"row {i}" for i in range(6)], picture=True)))
    assert shown.locator(".strip canvas.crop").count() == 6 and shown.locator(".lines image").count() == 12
    shown.locator(".picture rect").nth(2).click()
    assert "“row 2” looks" in text(shown, ".picture figcaption")


def test_a_box_opens_its_floor_and_the_backward_is_played_step_by_step(opened):
    shown = opened(page(record(TOKENS)))
    shown.locator(".chip").nth(2).click()
    floor = shown.locator("#floor")
    words = floor.inner_text()
    for part in (
        "Attention",
        "norm.weight",
        "1 × 4 × 16",
        "badak/ops/norm.py:12",
    ):
        assert part in words, part
    formulas = floor.locator("[role=math]").evaluate_all("all => all.map((one) => [one.title, one.textContent])")
    assert ["o = softmax(q k^T) v", "o=softmax(qkT)v"] in formulas and ["y = w h + b", "y=wh+b"] in formulas
    visible = floor.locator(".cards-of-steps li:not(.hidden)")
    assert visible.count() == 0
    shown.keyboard.press("n")
    assert visible.count() == 1 and "came from above" in visible.first.inner_text()
    shown.keyboard.press("n")
    shown.keyboard.press("n")
    assert visible.count() == 3 and "step 3 of 5" in floor.inner_text()
    shown.keyboard.press("b")
    assert visible.count() == 2
    shown.locator("#show-all").click()
    assert visible.count() == 5 and "goes on to" in visible.last.inner_text()
    before = shown.locator(".chip.now").get_attribute("data-box")
    shown.keyboard.press("n")  # the backward goes on in the box below
    assert int(shown.locator(".chip.now").get_attribute("data-box")) == int(before) - 1
    assert shown.locator(".chip.been").count() > 0
    shown.keyboard.press("Escape")
    assert not floor.is_visible()


def test_the_whole_backward_plays_by_itself_and_stops(opened):
    shown = opened(page(record(TOKENS)))
    shown.clock.install()
    shown.locator("button.play").click()
    count = len(record(TOKENS)["boxes"])
    assert shown.locator(".chip.now").get_attribute("data-box") == str(count - 1)
    shown.clock.run_for(1500 * 6)
    assert int(shown.locator(".chip.now").get_attribute("data-box")) < count - 1
    shown.locator("#play").click()
    step = text(shown, ".count")
    shown.clock.run_for(6000)
    assert text(shown, ".count") == step


def test_the_language_and_the_light_are_a_button_each_and_keep_the_view(opened):
    shown = opened(page(record(TOKENS)))
    shown.locator(".token").nth(2).click()
    shown.locator("#language").click()
    assert shown.evaluate(f"{VIEW}.lang") == "ko" and "어텐션" in text(shown, "main")
    assert text(shown, ".token.pinned").startswith("·sat")
    left = re.findall(r"[A-Za-z]{3,} [a-z]{3,}", text(shown, "header.page") + text(shown, ".of-attention"))
    assert left == []  # no English sentence stays
    shown.keyboard.press("l")
    assert shown.evaluate(f"{VIEW}.lang") == "en"
    light = colours(shown.screenshot()).mean()
    shown.locator("#theme").click()
    assert colours(shown.screenshot()).mean() < 100 < light
    shown.keyboard.press("d")
    assert shown.evaluate(f"{VIEW}.dataset.theme") == "light"


def test_everything_is_reached_by_the_keyboard(opened):
    shown = opened(page(record(TOKENS)))
    shown.keyboard.press("Shift+Slash")
    assert shown.locator("dialog#help").is_visible()
    shown.keyboard.press("Escape")
    shown.locator("dialog#help").wait_for(state="detached")  # a dialog closes after the key has gone
    shown.keyboard.press("ArrowLeft")
    assert text(shown, ".token.pinned").startswith("·the")
    shown.keyboard.press(".")
    assert "layer 1, head 2" in text(shown, ".card.a")
    shown.keyboard.press("Shift+Period")
    assert "layer 2, head 2" in text(shown, ".card.a")
    shown.locator(".thumbnail.a").focus()
    shown.keyboard.press("ArrowLeft")
    shown.keyboard.press("Enter")
    assert "layer 2, head 1" in text(shown, ".card.a")
    shown.keyboard.press("f")
    assert "blocks.1.attention" in text(shown, "#floor")
    shown.keyboard.press("Space")
    assert shown.locator("#play").inner_text() == "⏸"
    shown.keyboard.press("Escape")
    reached = set()
    for _ in range(60):
        shown.keyboard.press("Tab")
        reached.add(shown.evaluate("document.activeElement.className.split(' ')[0] || document.activeElement.id"))
    assert {
        "token",
        "thumbnail",
        "stack",
        "chip",
        "play",
        "compare",
        "language",
        "theme",
        "print",
        "open-help",
    } <= reached


def gpt():
    badak.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=12, context=16, d_model=16, heads=2, layers=2))
    return badak.look(model, badak.tensor([[1, 7, 3, 9, 3, 2]]), labels=badak.tensor([7, 3, 9, 3, 2, -100]))


def translator():
    sizes = {
        "vocab_size": 12,
        "context": 16,
        "d_model": 16,
        "heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "feedforward": 24,
    }
    return badak.look(Seq2Seq(Seq2SeqConfig(**sizes)), (badak.tensor([[1, 7, 3, 9]]), badak.tensor([[1, 5, 6]])))


def digits():
    sizes = ClassifierConfig(rows=12, row_width=12, d_model=16, heads=2, pooling="cls", encoder_layers=2)
    return badak.look(build_classifier(sizes), badak.rand(1, 12, 12), labels=badak.tensor([4]))


@pytest.mark.parametrize("seen", [gpt, translator, digits])
def test_what_a_real_look_knows_is_shown_down_to_the_last_box(opened, seen):
    made = seen()
    shown = opened(made.to_html())
    assert "cos" in text(shown, ".part.head")
    floors = shown.evaluate(FLOORS)
    assert len(floors) == len(made.record["boxes"])
    for words, box in zip(floors, made.record["boxes"]):
        assert made.record["kinds"][box["kind"]]["formula"][0] in words
        assert "undefined" not in words and "NaN" not in words and "[object" not in words
    body = text(shown, "body")
    assert "undefined" not in body and "[object" not in body


def test_a_model_that_writes_is_first_asked_what_comes_next(opened):
    made = gpt()
    shown = opened(made.to_html())
    last = len(made.record["sequences"][0]["tokens"])
    assert f"(token {last})" in text(shown, ".answers") and f"(token {last})" in text(shown, ".of-model")
    shown.locator(".token").first.click()
    assert "(token 1)" in text(shown, ".answers") and "(token 1)" in text(shown, ".of-model")


def test_a_token_that_is_markup_is_a_token(opened):
    hostile = [
        "</script><script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "\u202e",
        "\ud83d",
        "\n",
        "",
    ]
    shown = opened(page(record(hostile, source=hostile) | {"title": hostile[0]}))
    assert text(shown, "h1") == hostile[0] and shown.title() == hostile[0]
    assert shown.locator("img").count() == 0
    assert [token.partition("\n")[0] for token in shown.locator(".token").all_inner_texts()][2:6] == [
        "⟨202E⟩",
        "⟨D83D⟩",
        "⏎",
        "∅",
    ]


def test_a_record_that_knows_little_gives_a_page_that_shows_little(opened):
    shown = opened(
        page(
            {
                "format": 1,
                "title": "bare",
                "model": {"name": "M", "kind": "", "parameters": 3, "dtype": "float32", "sizes": []},
            }
        )
    )
    assert text(shown, "h1") == "bare" and shown.locator("main section").count() == 1
    shown.keyboard.press(".")
    shown.keyboard.press("f")
    shown.keyboard.press("c")


@pytest.mark.slow
def test_the_largest_record_is_drawn_and_printed(opened):
    made = record([f" word{i}" for i in range(64)], layers=12, heads=12)
    shown = opened(page(made))
    assert shown.locator(".thumbnail").count() == 144
    shown.locator(".token").nth(40).hover()
    assert shown.locator(".lines path.spoken").count() > 0
    assert len(shown.pdf()) > 20_000


def test_on_paper_everything_is_unfolded_and_light_and_on_the_screen_as_before(opened):
    shown = opened(page(record(TOKENS)), scheme="dark")
    shown.locator(".chip").nth(2).click()
    folded = "document.querySelectorAll('details:not([open])').length"
    before, theme = shown.evaluate(folded), shown.evaluate(f"{VIEW}.dataset.theme")
    assert before > 0 and theme == "dark"
    shown.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate(folded) == 0 and shown.evaluate(f"{VIEW}.dataset.theme") == "light"
    shown.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert shown.evaluate(folded) == before and shown.evaluate(f"{VIEW}.dataset.theme") == "dark"


CURRENT = """() => {
    const last = (text) => Number((text.match(/\\(token (\\d+)\\)/) ?? [])[1]);
    const found = {strip: Number(document.querySelector('.strip .token[aria-pressed=true] small').textContent)};
    found.answers = last(document.querySelector('.answers').textContent);
    found.lengths = last(document.querySelector('.bar-line p').textContent);
    const lens = [...document.querySelectorAll('.lens thead th')].findIndex((one) => one.classList.contains('chosen'));
    if (lens > 0) found.lens = lens;
    const floor = document.querySelector('#floor:not([hidden]) .forward_of h3');
    if (floor) found.floor = last(floor.textContent);
    return found;
}"""


@pytest.mark.parametrize("place", [5, 2])
def test_the_whole_page_speaks_of_one_token(opened, place):
    made = record(TOKENS)
    made["row"]["place"] = place  # as where the last label stands before the end
    for box in made["boxes"]:
        box.pop("place", None)
    shown = opened(page(made), 1400)
    assert set(shown.evaluate(CURRENT).values()) == {len(TOKENS)}, shown.evaluate(CURRENT)  # what it would write next
    chosen = shown.locator(".strip .token").nth(3)
    chosen.click()
    shown.mouse.move(5, 5)
    assert set(shown.evaluate(CURRENT).values()) == {4}, shown.evaluate(CURRENT)
    chosen.click()  # let go: it stays the one that is spoken of
    shown.mouse.move(5, 5)
    assert set(shown.evaluate(CURRENT).values()) == {4}
    shown.locator(".chip").first.click()  # its numbers are of the record's token, and so is all else now
    now = shown.evaluate(CURRENT)
    assert set(now.values()) == {place + 1} and "floor" in now, now


@pytest.mark.parametrize(("width", "layers", "heads"), [(1400, 3, 4), (1400, 12, 12), (1600, 6, 8)])
def test_lines_and_matrix_stand_beside_the_heads(opened, width, layers, heads):
    shown = opened(page(record(TOKENS, layers=layers, heads=heads)), width)
    table, lines, matrix = (shown.locator(where).first.bounding_box() for where in (".heads", ".lines", ".matrix"))
    assert abs(lines["y"] - table["y"]) < 40 and lines["x"] > table["x"] + table["width"]
    assert matrix["x"] > table["x"] + table["width"] and matrix["y"] < table["y"] + max(table["height"], 500)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.thin(1)
@pytest.mark.parametrize("width", [1400, 1280])
def test_no_formula_of_a_floor_is_clipped(opened, width):
    badak.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=20, context=8, d_model=16, heads=2, layers=1, dropout=0.0))
    shown = opened(page(badak.look(model, badak.tensor([[1, 2, 3, 4]])).record), width)
    clipped = shown.evaluate("""() => [...document.querySelectorAll('.chip')].flatMap((chip) => {
        chip.click();
        return [...document.querySelectorAll('#floor .formula .math > div, #floor .backward .math > div')]
            .filter((line) => line.scrollWidth > line.clientWidth + 1).map((line) => line.textContent);
    })""")
    assert clipped == []
    shown.locator(".chip.attention").first.click()
    told = shown.locator("#floor").inner_text()
    assert "head 1" in told and "head 0" not in told
