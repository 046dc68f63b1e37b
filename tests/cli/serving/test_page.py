"""The page in a headless Chromium: chat, search, classes, translations and holes, in both languages, with and without a key."""

import re
from importlib.resources import files

import pytest

from tests.inspect.visualize.conftest import browser, chromium  # noqa: F401  (a fixture)

PAGE = (files("badak.cli.serving") / "page.html").read_text(encoding="utf-8")


def test_the_page_says_the_same_in_both_languages():
    english, korean = (re.search(rf"\n  {name}: {{(.*?)\n  }},", PAGE, re.DOTALL)[1] for name in ("en", "ko"))
    keys = [re.findall(r'(\w+): "', text) for text in (english, korean)]
    assert keys[0] == keys[1] and len(keys[0]) > 20 and not re.search("[가-힣]", english)
    used = (
        set(re.findall(r'say\("(\w+)"\)', PAGE))
        | set(re.findall(r'(?:form|field)\("(\w+)"', PAGE))
        | set(re.findall(r'form\("\w+", "(\w+)"', PAGE))
    )
    assert used == set(keys[0])


@pytest.fixture
def page(browser, request):  # noqa: F811
    """opened(url, width...): a page that asks nobody but its server, and says nothing in the console."""
    contexts, said = [], []

    def opened(url, width=1280, locale="en-US", scheme="light", quiet=True):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, locale=locale, color_scheme=scheme))
        made = contexts[-1].new_page()
        made.set_default_timeout(10_000)
        if quiet:
            made.on("console", lambda message: said.append(message.text))
        made.on("pageerror", lambda error: said.append(str(error)))
        made.on("request", lambda asked: asked.url.startswith(url) or said.append(asked.url))
        made.goto(url)
        return made

    yield opened
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.slow
def test_a_chat_streams_and_colors_its_tokens(server, page):
    made = page(server.url)
    made.fill("#tokens", "12")
    made.fill("#seed", "5")
    made.fill("#text", "to be or not <b>bold</b>")
    made.press("#text", "Enter")
    made.get_by_text("(cut off at the token limit)").wait_for()  # the page lets nobody evaluate a text, as wait_for_function would
    assert made.inner_text(".turn.user") == "to be or not <b>bold</b>"
    expected = server.client.post("/v1/chat/completions", json={
        "model": "writer", "messages": [{"role": "user", "content": "to be or not <b>bold</b>"}], "max_tokens": 12, "seed": 5,
    }).json()["choices"][0]["message"]["content"]  # fmt: skip
    shown = made.evaluate("document.querySelectorAll('.turn')[1].textContent")
    assert shown == expected + " (cut off at the token limit)"
    assert "most likely: " in made.locator(".turn .t").first.get_attribute("title")
    colors = made.evaluate("[...document.querySelectorAll('.turn .t')].map(x => +x.style.getPropertyValue('--p'))")
    assert len(set(colors)) > 1 and all(0 <= one <= 60 for one in colors)
    made.click("#language")
    assert made.inner_text("#send") == "보내기" and made.evaluate("document.documentElement.lang") == "ko"
    assert made.locator(".turn").count() == 2
    made.click("#clear")
    assert made.locator(".turn").count() == 0


@pytest.mark.slow
def test_a_chat_can_be_stopped_and_complains_in_two_lines(server, page):
    made = page(server.url, locale="ko-KR", quiet=False)  # a refusal is in the console
    made.fill("#tokens", "-5")
    made.fill("#text", "to be")
    made.click("#send")
    made.wait_for_selector(".error")
    assert made.inner_text(".error").splitlines() == [
        "max_tokens: expected an integer of at least 1; got -5",
        'fix: "max_tokens": 1',
    ]


@pytest.mark.slow
def test_search_classes_translations_and_holes(server, page):
    made = page(server.url, width=390)
    made.select_option("#model", "encoder")
    made.fill("#texts", "to be\nein hund\n\nor not")
    made.fill("#text", "to be")
    made.press("#text", "Enter")
    made.wait_for_selector("#result td")
    cells = made.locator("#result tr").all_inner_texts()
    assert len(cells) == 3 and cells[0].split() == ["1.000", "to", "be"]
    made.select_option("#model", "judge")
    made.fill("#text", "to be")
    made.click("#send")
    made.wait_for_selector("#result td")
    rows = made.locator("#result tr").all_inner_texts()
    assert len(rows) == 2 and abs(sum(float(row.split("%")[0]) for row in rows) - 100) < 0.2
    made.select_option("#model", "translator")
    made.fill("#text", "ein hund")
    made.click("#send")
    made.wait_for_selector("#result .turn")
    made.select_option("#model", "filler")
    made.fill("#text", "to [MASK] or")
    made.click("#send")
    made.wait_for_selector("#result td")
    assert made.locator("#result tr").count() == 5
    assert made.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_key_is_asked_for(serving, page):
    locked = serving("writer", key="0123456789abcdef-key", host="0.0.0.0")
    made = page(locked.url, quiet=False)
    made.fill("#key", "wrong")
    made.press("#key", "Enter")
    made.wait_for_selector(".error")
    assert "a key is needed" in made.inner_text(".error")
    made.fill("#key", "0123456789abcdef-key")
    made.press("#key", "Enter")
    made.wait_for_selector("#send")
