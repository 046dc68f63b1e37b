"""Each probe has a code, the same in its report, in `badak explain` and on the page."""

from pathlib import Path

from badak.cli import main
from badak.inspect.audit.probes import PROBES
from badak.inspect.audit.report import CODES, MEANINGS, TITLES, Finding, explained

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "audit.md").read_text(encoding="utf-8")


def test_every_probe_has_a_code_of_its_own_and_a_row_on_the_page():
    assert set(PROBES) == set(CODES) == set(TITLES) == set(MEANINGS)
    assert len(set(CODES.values())) == len(CODES) and set(CODES.values()) <= set(range(300, 324))
    for probe, number in CODES.items():
        assert f"\n| BADAK-{number} | {TITLES[probe]} |" in PAGE
        assert explained(f"BADAK-{number}") == explained(str(number)) != ""


def test_a_finding_begins_with_its_code_and_explain_knows_it(capsys):
    assert str(Finding("cache", "blocks.0", "a cause", "a fix")).startswith("BADAK-306 cache: blocks.0\n")
    assert main(["explain", "badak-306"]) == 0
    assert capsys.readouterr().out.startswith("BADAK-306  cache\n\nThe last token with what was remembered")
    assert explained("BADAK-399") == ""
