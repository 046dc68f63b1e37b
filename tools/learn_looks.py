"""The microscope's pictures of the guide, docs/img/learn/*-look.png and *-look.ko.png, for `tools/learn_pictures.py`.

Each is a real page of `badak.look`, of the model or the tensors that the programs of its chapter leave behind. Needs playwright
and Chromium, and a font with Korean letters.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import badak
from badak import nn
from badak.inspect.visualize import Look
from badak.nn import functional as F
from tests.inspect.visualize.conftest import FLAGS, chromium

LARGEST = 150_000  # bytes of a picture
STORY = "\n오리가 연못에 갔습니다."


class Heads(nn.Module):
    """Heads whose scores are given: (1, H, T, T); what they hand on are the words themselves."""

    def __init__(self, table: Any, scores: Any):
        super().__init__()
        self.word, self.scores = nn.Embedding.from_pretrained(table, freeze=False), scores

    def forward(self, ids):
        value = self.word(ids)[:, None].expand(-1, self.scores.shape[1], -1, -1)
        nothing = badak.zeros_like(value)
        return F.scaled_dot_product_attention(nothing, nothing, value, attn_mask=self.scores)


class ByHand(nn.Module):
    """The attention of chapter 1 with its matrices."""

    def __init__(self, names: dict):
        super().__init__()
        self.word = nn.Embedding.from_pretrained(_float(names["x"]), freeze=False)
        self.query, self.key, self.value = (nn.Linear(3, 3, bias=False) for _ in range(3))
        with badak.no_grad():
            for name in ("query", "key", "value"):
                getattr(self, name).weight.copy_(names[name].T)  # x is 1 on the diagonal: what it gives is the matrix

    def forward(self, ids):
        h = self.word(ids)
        parts = [getattr(self, name)(h)[:, None] for name in ("query", "key", "value")]
        return F.scaled_dot_product_attention(*parts)


def _float(x: Any) -> Any:
    return badak.tensor(x.tolist())


def attention(names: dict) -> Look:
    words = names["words"]
    return badak.look(ByHand(names), badak.arange(len(words))[None], tokenizer=words, kind="bidirectional", loss=_sum, title="1")


def _sum(output: Any) -> Any:
    return output.sum()


def positions(names: dict) -> Look:
    p = _float(names["clocks"](16, 16))
    scores = 2 * (p @ p.T)[None, None]
    return badak.look(Heads(p, scores), badak.arange(16)[None], tokenizer=str, kind="bidirectional", loss=_sum, title="2")


def heads(names: dict) -> Look:
    weights = badak.stack([badak.tensor(names[name].tolist()) for name in ("before", "after")])[None]
    model = Heads(_float(names["place"]), weights.clamp(min=1e-9).log())
    return badak.look(model, badak.arange(6)[None], tokenizer=str, kind="bidirectional", loss=_sum, title="3")


def masks(names: dict) -> Look:
    model = Heads(badak.randn(10, 8), names["scores"].masked_fill(~names["keep"], float("-inf")))
    return badak.look(model, names["ids"], tokenizer=lambda i: str(i) if i else "pad", kind="causal", loss=_sum, title="4")


def encoder(names: dict) -> Look:
    badak.manual_seed(0)
    return badak.look(names["Encoder"](32, 4, 6), names["x"], kind="bidirectional", loss=_sum, title="5")


def decoder(names: dict) -> Look:
    row, letters = names["numbers"].index(217), names["letters"]
    batch = names["digits"][row : row + 1], names["texts"][row : row + 1, :-3]  # without <end> and padding
    return badak.look(
        names["model"],
        batch,
        tokenizer=lambda i: letters[i] if i < len(letters) else str(i),
        kind="encoder-decoder",
    )


def mean(names: dict) -> Look:
    words = {names["A"]: "A", names["B"]: "B"} | dict.fromkeys(range(4, 12), "·")
    return badak.look(names["models"]["mean of outputs"], a_before_b(names), tokenizer=words)


def a_before_b(names: dict) -> Any:
    """A text of chapter 7."""
    return badak.tensor([[7, 5, names["A"], 9, 11, 4, 8, names["B"], 6, 10]])


def training(names: dict) -> Look:
    return badak.look(names["model"], names["ids"][:1], labels=names["labels"][:1], tokenizer=str, title="8")


def writing(names: dict) -> Look:
    return badak.look(names["model"], in_letters(names, STORY), tokenizer=names["letters"])


def in_letters(names: dict, text: str) -> Any:
    return badak.tensor([[names["number"][letter] for letter in text]])


def mistake(names: dict) -> Look:
    badak.manual_seed(1)
    model = names["Hurried"]()
    return badak.look(model, names["ids"][:1], labels=names["labels"][:1], tokenizer=str, title="10")


def beginning(page: Page) -> None:
    """The page as it opens."""


def matrix(page: Page) -> None:
    page.locator(".strip .token").nth(2).click()
    _to(page, ".of-attention")


def two(page: Page) -> None:
    page.locator(".thumbnail").nth(0).click()
    page.locator(".thumbnail").nth(1).click(modifiers=["Shift"])
    _to(page, ".of-attention")


def floor(role: str) -> Callable[[Page], None]:
    def open_it(page: Page) -> None:
        page.locator(f".chip.{role}").last.click()
        page.locator("#show-all").click()
        page.evaluate("document.getElementById('floor').scrollTop = 0")

    return open_it


def stream(page: Page) -> None:
    _to(page, ".of-model")


def gradients(page: Page) -> None:
    page.locator(".chip.loss").last.click()
    _to(page, ".of-gradients")


def _to(page: Page, where: str) -> None:
    page.evaluate(f"window.scrollTo(0, document.querySelector('{where}').offsetTop - 12)")


LOOKS: dict[str, tuple[Callable[[dict], Look], Callable[[Page], None], int]] = {  # chapter: (look, what is done before, height)
    "01-attention": (attention, floor("attention"), 900),
    "02-positions": (positions, matrix, 760),
    "03-heads": (heads, two, 720),
    "04-masks": (masks, matrix, 680),
    "05-encoder": (encoder, stream, 760),
    "06-decoder": (decoder, beginning, 900),
    "07-cls-or-mean": (mean, beginning, 900),
    "08-training": (training, floor("loss"), 860),
    "09-writing": (writing, beginning, 900),
    "10-what-goes-wrong": (mistake, gradients, 860),
}


def draw(chapter: str, names: dict, place: Path) -> None:
    """Both pictures of a chapter."""
    look, act, height = LOOKS[chapter]
    seen = look(names)
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium(), args=FLAGS) as browser:
        for language, end in (("en", "look.png"), ("ko", "look.ko.png")):
            page = browser.new_page(viewport={"width": 1180, "height": height}, color_scheme="light")
            page.set_content(seen.to_html(language))
            act(page)
            page.mouse.move(0, 0)
            page.wait_for_timeout(400)  # bars grow
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(96)
            path = place / f"{chapter[:2]}-{end}"
            picture.save(path, optimize=True)
            assert path.stat().st_size < LARGEST, path
            page.close()
