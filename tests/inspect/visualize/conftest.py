"""A headless Chromium (Debian's, or what is called so) that opens pages as a double click does: from a file, without a network."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
         "--disable-sync").split()  # fmt: skip


def chromium() -> str:
    """The path of Chromium. Where it is absent the test fails under CI, and is skipped elsewhere."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is installed; apt-get install chromium brings it"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="module")  # not longer: while it lives an event loop runs in this thread
def browser():
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        with playwright.chromium.launch(executable_path=path, args=FLAGS) as browser:
            yield browser


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page of HTML at a width, in light or dark; a word in the console or a call of the network fails the test."""
    contexts, said = [], []

    def open_page(html, width=1280, scheme="light"):
        file = tmp_path / "look.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True))
        page = contexts[-1].new_page()
        page.set_default_timeout(5000)
        page.set_default_navigation_timeout(30_000)  # a machine that is busy
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or said.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
