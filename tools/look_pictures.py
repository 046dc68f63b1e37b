"""Look into four trained models: their pages, and the pictures of docs/how-to/look.md: `python tools/look_pictures.py [FOLDER]`.

FOLDER (runs/look unless given) gets gpt.html, stories.html, bert.html and digits.html, and the runs behind them, each trained
once (two minutes in all; MNIST is fetched, or read from the folder $MNIST). docs/img/look-*.png are taken of the pages.
Needs playwright and Chromium.
"""

import io
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.inspect.visualize.conftest import FLAGS, chromium

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "img"
MNIST = ["--data", os.environ["MNIST"]] if "MNIST" in os.environ else []
STORY = (  # one that badak train gpt never reads, up to the word that says who has the kite
    "It was a quiet evening. David was at the river. Max was at the school. A yellow kite belonged to David. Max wanted the kite. "
    "Max went to David. David gave the kite to Max. Max thanked David. At night the yellow kite was with"
)
EXPERIMENTS = {  # name: (what trains it, what is looked at)
    "gpt": (["gpt", "--preset", "sentences"], ["To succeed in life you need two things ignorance and confidence"]),
    "stories": (["gpt"], [STORY]),
    "bert": (["bert"], ["Great minds [MASK] alike, but they also think differently"]),
    "digits": (["classify", "--train-images", "5000", "--epochs", "2", *MNIST], []),
}


def badak(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "badak", *words], check=True, env={**os.environ, "BADAK_LANG": "en"})


def pages(folder: Path) -> None:
    """The page of each experiment, trained if it is not there."""
    for name, (trains, text) in EXPERIMENTS.items():
        if not (folder / name).is_dir():
            badak("train", *trains, "--run", str(folder / name))
        badak("look", str(folder / name), *text, "-o", str(folder / f"{name}.html"))


def attention(page: Page) -> None:
    """One word pinned, two heads side by side."""
    page.locator(".thumbnail").nth(1).click()
    page.locator(".thumbnail").nth(5).click(modifiers=["Shift"])
    page.locator(".strip .token").nth(3).click()
    page.evaluate("window.scrollTo(0, document.querySelector('.of-attention').offsetTop - 12)")


def backward(page: Page) -> None:
    """A layer norm whose backward is being played."""
    page.locator(".chip.norm").nth(1).click()
    for _ in range(4):
        page.keyboard.press("n")


def hole(page: Page) -> None:
    """What the layers would put into the hole."""
    page.locator(".strip .token").nth(3).click()
    page.evaluate("window.scrollTo(0, document.querySelector('.of-lens').offsetTop - 12)")


def owner(page: Page) -> None:
    """What the last token of the story looks at in the head that `tools/story_heads.py` finds."""
    layer, head, heads = 2, 2, 4
    page.locator(".thumbnail").nth((layer - 1) * heads + head - 1).click()
    page.locator(".strip .token").last.click()
    page.evaluate("window.scrollTo(0, document.querySelector('.of-attention').offsetTop - 12)")


def digit(page: Page) -> None:
    """Where a row of the picture looks."""
    page.locator(".strip .token").nth(14).click()


SHOTS = {  # picture: (experiment, what is done before, height, light)
    "look-attention": ("bert", attention, 860, "light"),
    "look-backward": ("gpt", backward, 860, "light"),
    "look-lens": ("bert", hole, 470, "light"),
    "look-owner": ("stories", owner, 990, "light"),
    "look-digit": ("digits", digit, 640, "dark"),
}


def pictures(folder: Path, names: Iterable[str] = SHOTS) -> None:
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium(), args=FLAGS) as browser:
        for name in names:
            experiment, act, height, scheme = SHOTS[name]
            page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme=scheme)
            page.goto((folder / f"{experiment}.html").resolve().as_uri())
            act(page)
            page.mouse.move(0, 0)
            page.wait_for_timeout(400)  # bars grow
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(256)  # half the bytes, to the eye the same
            picture.save(PICTURES / f"{name}.png", optimize=True)
            page.close()


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/look")
    place.mkdir(parents=True, exist_ok=True)
    pages(place)
    pictures(place)
