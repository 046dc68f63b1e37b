"""What tools/their_tests.py reads from a report of pytest, and how it groups errors."""

from tools.their_tests import Outcome, cause, told

REPORT = """<testsuites><testsuite>
<testcase classname="a.B" name="one"/>
<testcase classname="a.B" name="two"><failure message="ValueError: got 3.5 at 0x7f&#10;fix: give 4">trace</failure></testcase>
<testcase classname="a.B" name="three"><error>ImportError: no torch</error></testcase>
<testcase classname="a.B" name="four"><skipped message="slow"/></testcase>
</testsuite></testsuites>"""


def test_outcomes_come_with_their_errors(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT, encoding="utf-8")
    assert dict(told(report)) == {
        "a.B::one": Outcome("passed"),
        "a.B::two": Outcome("failed", "ValueError: got 3.5 at 0x7f fix: give 4"),
        "a.B::three": Outcome("failed", "ImportError: no torch"),
        "a.B::four": Outcome("skipped", "slow"),
    }
    assert dict(told(tmp_path / "none.xml")) == {}


def test_errors_that_differ_in_numbers_are_one_cause():
    assert (
        cause("ValueError: got 3.5 at 0x7f fix: give 4")
        == cause("ValueError: got -2e-05 at 0x1a fix: other")
        == "ValueError: got N at N"
    )
    assert cause("TypeError: a") != cause("TypeError: b")
