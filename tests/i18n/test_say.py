"""Messages, warnings and help in the person's language."""

import os
import subprocess
import sys
import warnings

import pytest

from badak.core import errors
from badak.core.i18n import language, say
from badak.core.i18n.catalogue import Catalogue
from badak.core.i18n.particles import PAIRS, Hole

ENTRIES = {
    "fix:": "해결:",
    "labels from 0": "라벨은 0부터 셉니다",
    "target[{0}] = {1} but logits have {2} classes": "target[{0}]{0:이가} {1}인데 logits의 클래스는 {2}개입니다",
    "{0}: expected {1}; got {2}": "{0}: {1:이가} 와야 하는데 {2:을를} 받았습니다",
    "part\x04a list of {0}": "{0}의 리스트",
    "part\x04names": "이름",
    "use {{}} as it is": "{{}} 그대로 쓰십시오",
    "{0} of {1} row{2} are empty": "{1}행 중 {0}행이 비어 있습니다",
}


@pytest.fixture
def korean():
    return Catalogue(ENTRIES)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ko_KR"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "BADAK_LANG": "en"}, "en"),
        ({"LC_ALL": "C", "BADAK_LANG": "KO"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_badak_lang_decides_then_the_locale(monkeypatch, variables, expected):
    for name in ("BADAK_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == expected


@pytest.mark.parametrize(
    ("english", "told"),
    [
        ("labels from 0", "라벨은 0부터 셉니다"),
        ("target[3] = 3 but logits have 3 classes", "target[3]3이 3인데 logits의 클래스는 3개입니다"),
        ("F: expected a list of names; got 3", "F: 이름의 리스트가 와야 하는데 3을 받았습니다"),
        ("1 of 3 rows are empty\nfix: labels from 0", "3행 중 1행이 비어 있습니다\n해결: 라벨은 0부터 셉니다"),
        ("labels from 0\nmine\n\tlabels from 0", "라벨은 0부터 셉니다\nmine\n\t라벨은 0부터 셉니다"),
        ("use {} as it is", "{} 그대로 쓰십시오"),
        ("something else {0}", "something else {0}"),
        ("", ""),
    ],
)
def test_a_text_is_recognised_and_said_again(korean, english, told):
    assert korean.message(english) == told


def test_a_hole_may_hold_anything(korean):
    value = "{x} of {0}\nfix: got; got"
    assert korean.message(f"f: expected a list of names; got {value}").startswith("f: 이름의 리스트가")


@pytest.mark.parametrize(
    ("word", "said"),
    [("마스크", "를"), ("텐서", "를"), ("그림", "을"), ("3", "을"), ("2", "를"), ("(2, 10)", "을"), ("mask", "를"), ("dim", "을"),
     ("'token'", "을"), ("GPT", "를"), ("RNN", "을"), ("module", "을"), ("step", "을"), ("float32", "를"), ("", "를")],
)  # fmt: skip
def test_a_particle_follows_the_last_sound(word, said):
    assert f"{Hole(word):을를}" == word + said


def test_after_rieul_stands_ro():
    assert [f"{Hole(word):으로로}" for word in ("모델", "7", "값", "3", "0")] == ["모델로", "7로", "값으로", "3으로", "0으로"]
    assert set(PAIRS) >= {"은는", "이가", "을를", "과와", "으로로"}


def test_cause_fix_and_args_stay_english_and_str_speaks_korean(monkeypatch):
    monkeypatch.setattr(errors, "say", Catalogue(ENTRIES).message)
    error = errors.IndexOutOfRangeError("target[3] = 3 but logits have 3 classes", "labels from 0")
    assert str(error) == "target[3]3이 3인데 logits의 클래스는 3개입니다\n해결: 라벨은 0부터 셉니다"
    assert error.args == ("target[3] = 3 but logits have 3 classes\nfix: labels from 0",)
    assert (error.cause, error.fix) == ("target[3] = 3 but logits have 3 classes", "labels from 0")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors.warn_once("here", "1 of 2 rows are empty")
    assert str(caught[0].message) == "2행 중 1행이 비어 있습니다" and caught[0].message.args == ("1 of 2 rows are empty",)


def test_english_reads_no_catalogue(monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "en")
    monkeypatch.delitem(sys.modules, "badak.core.i18n.catalogue", raising=False)
    assert say("fix:") == "fix:" and "badak.core.i18n.catalogue" not in sys.modules


@pytest.mark.slow
def test_a_program_speaks_the_language_of_its_locale():
    program = "import badak; badak.zeros(2, 3) @ badak.zeros(2, 3)"
    told = {}
    for lang in ("ko", "en"):
        environment = {**os.environ, "BADAK_LANG": lang, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=False)
        told[lang] = done.stderr.decode().splitlines()[-1]
    assert told["en"].startswith("fix: ") and told["ko"].startswith("해결: ")
