"""Stories: the same ones on every machine, right by their own grammar, and each kind of broken story is found out."""

import hashlib

import pytest

from badak.core.errors import ArgumentError
from badak.data.stories import FORMS, WORDS, check_story, forms_of, opening, read_sentence, sentences_of, stories

OPENING = "It was a cold evening. Ben was at the lake. Anna was at the park. A red kite belonged to Ben."
GIFT = "Anna went to Ben. Ben gave the kite to Anna."
END = "At night the red kite was with Anna."
RIGHT = f"{OPENING} {GIFT} {END}"


@pytest.mark.slow
@pytest.mark.parametrize("language", FORMS)
def test_its_own_stories_are_right(language):
    for story in stories(language, 2000, seed=3):
        read = check_story(story, language)
        assert read.objections == () and read.consistent and read.parsed == read.sentences == len(sentences_of(story)), story


@pytest.mark.parametrize("language, sha256", [("en", "d850dd2e0208fd56"), ("ko", "3c11f64fa632b83d")])
def test_a_seed_gives_the_same_stories_on_every_machine(language, sha256):
    told = stories(language, 500)
    assert hashlib.sha256("\n".join(told).encode()).hexdigest()[:16] == sha256
    assert told == stories(language, 600)[:500] and told != stories(language, 500, seed=1)


def test_both_languages_tell_the_same_stories():
    english, korean = ([[read_sentence(one, language) for one in sentences_of(story)] for story in stories(language, 300)]
                       for language in ("en", "ko"))  # fmt: skip
    assert english == korean


@pytest.mark.slow
@pytest.mark.parametrize("language", FORMS)
def test_no_two_stories_begin_alike(language):
    told = stories(language, 1000)
    openings = {opening(story, language) for story in told}
    assert len(openings) == 1000 and all(story.startswith(opening(story, language)) for story in told)
    text = "\n".join(stories(language, 900))
    assert not any(opening(story, language) in text for story in told[900:])


def test_a_language_has_the_words_and_forms_of_the_other_one():
    assert {slot: len(words) for slot, words in WORDS["en"].items()} == {slot: len(words) for slot, words in WORDS["ko"].items()}
    assert list(FORMS["en"]) == list(FORMS["ko"])
    assert all(len(set(words)) == len(words) for language in WORDS.values() for words in language.values())


NOT_THEIRS, UNKNOWN = "this person has not the thing", "nobody has told of this person or thing"
ALREADY, NOT_HERE = "this person is there already", "not in this part of a story"
BROKEN = {
    "wrong owner": (f"{OPENING} {GIFT} At night the red kite was with Ben.", NOT_THEIRS),
    "wrong color": (f"{OPENING} {GIFT} At night the blue kite was with Anna.", "the thing has another color"),
    "a thing in two hands": (RIGHT.replace("to Ben.", "to Ben. A blue kite belonged to Anna."), "this thing is in other hands"),
    "a gift of what another one has": (RIGHT.replace("Ben gave the kite to Anna", "Anna gave the kite to Ben"), NOT_THEIRS),
    "a gift from afar": (RIGHT.replace("Anna went to Ben. ", ""), "the two are not at one place"),
    "a gift to oneself": (RIGHT.replace("gave the kite to Anna", "gave the kite to Ben"), "the two are not at one place"),
    "used by another one": (RIGHT.replace(END, f"Ben flew the kite. {END}"), NOT_THEIRS),
    "wanted by its owner": (RIGHT.replace(END, f"Anna wanted the kite. {END}"), "this person has the thing already"),
    "somebody unknown": (RIGHT.replace(END, f"Tom went to the farm. {END}"), UNKNOWN),
    "something unknown": (RIGHT.replace(END, f"Anna flew the kite. Anna bounced the ball. {END}"), UNKNOWN),
    "thanks for nothing": (RIGHT.replace(GIFT, f"{GIFT} Ben thanked Anna."), "there was no gift to thank for"),
    "thanks too late": (RIGHT.replace(END, f"Anna flew the kite. Anna thanked Ben. {END}"), "there was no gift to thank for"),
    "a way to where one is": (RIGHT.replace(END, f"Ben went to the farm. Ben went to the farm. {END}"), ALREADY),
    "a way to who is there": (RIGHT.replace(END, f"Anna went to Ben. {END}"), "the two are at one place already"),
    "a way to oneself": (RIGHT.replace(END, f"Anna went to Anna. {END}"), "the two are at one place already"),
    "a gift from afar again": (RIGHT.replace("Ben gave", "Anna went to the farm. Ben gave"), "the two are not at one place"),
    "brought by another one": (RIGHT.replace("Anna went to Ben", "Anna took the kite to Ben"), NOT_THEIRS),
    "carried by another one": (RIGHT.replace(END, f"Ben took the kite to the farm. {END}"), NOT_THEIRS),
    "told twice": (RIGHT.replace("Anna was at the park.", "Ben was at the park."), "the story told already where this person is"),
    "a second beginning": (f"{OPENING} It was a cold evening. {GIFT} {END}", NOT_HERE),
    "the owner before anybody": ("It was a cold evening. A red kite belonged to Ben. Ben was at the lake. " + END, UNKNOWN),
    "somebody new in the middle": (f"{OPENING} {GIFT} Tom was at the park. {END}", NOT_HERE),
    "on after the end": (f"{RIGHT} Anna flew the kite.", NOT_HERE),
    "two ends": (f"{RIGHT} {END}", "the end has told of this thing already"),
    "no beginning": (RIGHT.removeprefix("It was a cold evening. "), NOT_HERE),
    "no end": (f"{OPENING} {GIFT}", "the end is missing"),
    "a word of no story": (RIGHT.replace("Ben gave", "Zoe gave"), "the grammar has no such sentence"),
    "a sentence cut short": (RIGHT.removesuffix(" Anna."), "the grammar has no such sentence"),
    "nothing": ("", "the end is missing"),
}  # fmt: skip


def test_the_story_that_is_broken_below_is_right():
    assert check_story(RIGHT, "en").objections == ()


@pytest.mark.parametrize("text, objection", BROKEN.values(), ids=BROKEN)
def test_a_broken_story_is_found_out(text, objection):
    read = check_story(text, "en")
    assert any(objection in one for one in read.objections) and not read.consistent
    assert read.parsed == read.sentences - sum("no such sentence" in one for one in read.objections)


@pytest.mark.parametrize("language", FORMS)
def test_any_other_name_in_the_end_is_found_out(language):
    """Each story with each other person in place of the one who has the thing."""
    for story in stories(language, 100):
        last = sentences_of(story)[-1]
        read = read_sentence(last, language)
        for other in range(len(WORDS[language]["a"])) if read.form == "kept" else ():
            wrong = story.removesuffix(last) + forms_of(language)["kept"].fill({**read.slots, "a": other})
            check = check_story(wrong, language)
            assert check.parsed == check.sentences and check.consistent == (other == read.slots["a"])


@pytest.mark.parametrize("sentence", [
    "서연은 공원에 있었어요.", "민수는 공원에 있었어요.", "지훈은 연을 들고 숲으로 갔어요.", "수아는 지도를 들고 바닷가로 갔어요.",
    "유나는 역으로 갔어요.", "보람은 책을 민수에게 가져갔어요.",
    "빨간 연은 민수의 것이었어요.", "하얀 지도는 서연의 것이었어요.", "수아는 모자를 갖고 싶어 했어요.",
    "보람은 민수에게 공을 주었어요.",
    "맑은 아침이었어요.",
    "밤에 파란 지도는 지훈이 가지고 있었어요.", "밤에 하얀 연은 유나가 가지고 있었어요.",
])  # fmt: skip
def test_korean_particles_follow_the_last_sound(sentence):
    """With the other particle the grammar has no such sentence."""
    assert read_sentence(sentence, "ko") is not None
    pairs = [("은 ", "는 "), ("을 ", "를 "), ("이 가지고", "가 가지고"), ("으로 ", "로 ")]
    for right, wrong in [*pairs, *(pair[::-1] for pair in pairs)]:
        if right in sentence:
            assert read_sentence(sentence.replace(right, wrong), "ko") is None


def test_another_language_is_refused():
    with pytest.raises(ArgumentError, match=r"expected one of the languages en, ko; got 'fr'"):
        stories("fr", 1)
