"""Short stories that a small grammar writes, reads and checks, in English and Korean.

    It was a windy morning. Nora was at the lake. Max was at the market. A red kite belonged to Max. Nora wanted the kite. Nora
    went to Max. Max gave the kite to Nora. Nora thanked Max. Nora flew the kite. At night the red kite was with Nora.

A sentence is a form with words in its slots. `World` says what each form needs and what it changes: the writer obeys it, and
`check_story` asks it whether the sentences of a text, also of one that a model wrote, agree with each other. From one seed both
languages tell the same stories, on every machine.
"""

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Any

from badak.core.errors import ArgumentError
from badak.core.i18n import LANGUAGES, tr
from badak.core.i18n.particles import Hole
from badak.io.errors import shown

COUNT = 8_000  # stories

WORDS: dict[str, dict[str, tuple[str, ...]]] = {  # slot: its words, the same ones in the same places in each language
    "en": {
        "w": ("sunny", "windy", "cold", "quiet", "cloudy", "warm"),
        "d": ("morning", "evening", "spring day", "autumn day", "weekend"),
        "a": ("Anna", "Ben", "Clara", "David", "Emma", "Max", "Nora", "Tom"),
        "p": ("park", "lake", "market", "school", "library", "river"),
        "q": ("beach", "forest", "museum", "farm", "station", "garden"),
        "c": ("red", "blue", "green", "yellow", "white", "black"),
        "t": ("kite", "ball", "book", "drum", "hat", "lamp", "bag", "map"),
        "u": ("flew the kite", "bounced the ball", "read the book", "played the drum", "put on the hat", "lit the lamp",
              "opened the bag", "looked at the map"),
    },
    "ko": {
        "w": ("맑은", "바람 부는", "추운", "조용한", "흐린", "따뜻한"),
        "d": ("아침", "저녁", "봄날", "가을날", "주말"),
        "a": ("민수", "서연", "도윤", "유나", "준호", "지훈", "수아", "보람"),
        "p": ("공원", "호숫가", "시장", "학교", "도서관", "강"),
        "q": ("바닷가", "숲", "박물관", "농장", "역", "꽃밭"),
        "c": ("빨간", "파란", "초록색", "노란", "하얀", "까만"),
        "t": ("연", "공", "책", "북", "모자", "등불", "가방", "지도"),
        "u": ("연을 날렸어요", "공을 튕겼어요", "책을 읽었어요", "북을 쳤어요", "모자를 써 보았어요", "등불을 켰어요",
              "가방을 열었어요", "지도를 보았어요"),
    },
}  # fmt: skip
FORMS: dict[str, dict[str, str]] = {  # what stands behind a colon is a Korean particle, see core/i18n/particles.py
    "en": {
        "day": "It was a {w} {d}.",
        "was": "{a} was at the {p}.",
        "owned": "A {c} {t} belonged to {a}.",
        "wanted": "{a} wanted the {t}.",
        "went": "{a} went to the {q}.",
        "carried": "{a} took the {t} to the {q}.",
        "joined": "{a} went to {b}.",
        "brought": "{a} took the {t} to {b}.",
        "gave": "{a} gave the {t} to {b}.",
        "thanked": "{a} thanked {b}.",
        "used": "{a} {u}.",
        "kept": "At night the {c} {t} was with {a}.",
    },
    "ko": {
        "day": "{w} {d:이}었어요.",
        "was": "{a:은는} {p}에 있었어요.",
        "owned": "{c} {t:은는} {a}의 것이었어요.",
        "wanted": "{a:은는} {t:을를} 갖고 싶어 했어요.",
        "went": "{a:은는} {q:으로로} 갔어요.",
        "carried": "{a:은는} {t:을를} 들고 {q:으로로} 갔어요.",
        "joined": "{a:은는} {b}에게 갔어요.",
        "brought": "{a:은는} {t:을를} {b}에게 가져갔어요.",
        "gave": "{a:은는} {b}에게 {t:을를} 주었어요.",
        "thanked": "{a:은는} {b}에게 고맙다고 말했어요.",
        "used": "{a:은는} {u}.",
        "kept": "밤에 {c} {t:은는} {a:이가} 가지고 있었어요.",
    },
}
PART = {"day": 0, "was": 1, "owned": 2, "kept": 4}  # of a story; all other forms are its middle
MIDDLE = 3


@dataclass(frozen=True)
class Sentence:
    """A form, and for each of its slots the place of a word in WORDS."""

    form: str
    slots: dict[str, int]


class Contradiction(Exception):
    """A sentence that cannot follow those before it."""


def require(right: bool, otherwise: str) -> None:
    """Raise Contradiction unless `right`."""
    if not right:
        raise Contradiction(otherwise)


class World:
    """Where everyone is and who has each thing; a method for each form: what it needs, then what it changes."""

    def __init__(self) -> None:
        self.part = -1  # that of the sentence before
        self.places: dict[int, tuple[str, int]] = {}  # person: slot and word of the place
        self.owners: dict[int, int] = {}  # thing: person
        self.colors: dict[int, int] = {}  # thing: color
        self.gift: tuple[int, int] | None = None  # giver and receiver, in the sentence before
        self.ended: set[int] = set()  # things of which the end has told

    @property
    def complete(self) -> bool:
        """Whether the end has told of every thing."""
        return bool(self.ended) and self.ended == set(self.owners)

    def follow(self, sentence: Sentence) -> None:
        """Take in the next sentence. Raises Contradiction where it cannot be so, and stays as it is."""
        form, slots, part = sentence.form, sentence.slots, PART.get(sentence.form, MIDDLE)
        people, things = self.places.keys(), self.owners.keys()
        require(part == 0 if self.part < 0 else part >= max(self.part, 1), "not in this part of a story")
        for slot, known in {"a": people, "b": people, "t": things, "u": things}.items():
            if slot in slots and (form, slot) not in (("was", "a"), ("owned", "t")):
                require(slots[slot] in known, "nobody has told of this person or thing before")
        getattr(self, f"_{form}")(**slots)
        self.gift, self.part = (slots["a"], slots["b"]) if form == "gave" else None, part

    def _day(self, w: int, d: int) -> None:
        pass

    def _was(self, a: int, p: int) -> None:
        require(a not in self.places, "the story told already where this person is")
        self.places[a] = "p", p

    def _owned(self, c: int, t: int, a: int) -> None:
        require(t not in self.owners, "this thing is in other hands")
        self.owners[t], self.colors[t] = a, c

    def _wanted(self, a: int, t: int) -> None:
        require(self.owners[t] != a, "this person has the thing already")

    def _went(self, a: int, q: int) -> None:
        require(self.places[a] != ("q", q), "this person is there already")
        self.places[a] = "q", q

    def _carried(self, a: int, t: int, q: int) -> None:
        self._holds(a, t)
        self._went(a, q)

    def _joined(self, a: int, b: int) -> None:
        require(self.places[a] != self.places[b], "the two are at one place already")
        self.places[a] = self.places[b]

    def _brought(self, a: int, t: int, b: int) -> None:
        self._holds(a, t)
        self._joined(a, b)

    def _gave(self, a: int, t: int, b: int) -> None:
        self._holds(a, t)
        require(a != b and self.places[a] == self.places[b], "the two are not at one place")
        self.owners[t] = b

    def _thanked(self, a: int, b: int) -> None:
        require(self.gift == (b, a), "there was no gift to thank for")

    def _used(self, a: int, u: int) -> None:
        self._holds(a, u)

    def _kept(self, c: int, t: int, a: int) -> None:
        self._holds(a, t)
        require(self.colors[t] == c, "the thing has another color")
        require(t not in self.ended, "the end has told of this thing already")
        self.ended.add(t)

    def _holds(self, a: int, t: int) -> None:
        require(self.owners[t] == a, "this person has not the thing")


class Writer:
    """Draws one story: sentences that the world allows, in an order that makes sense."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.world, self.sentences = rng, World(), list[Sentence]()
        self.introduced = 0  # sentences of the opening

    def chance(self, share: float) -> bool:
        """True in this share of all cases."""
        return self.rng.random() < share

    def some(self, several: Sequence[Any], count: int) -> list[Any]:
        """So many different ones; by `random` alone, whose numbers every version of Python draws alike."""
        rest = list(several)
        return [rest.pop(int(self.rng.random() * len(rest))) for _ in range(count)]

    def one(self, several: Sequence[Any]) -> Any:
        """One of several."""
        return self.some(several, 1)[0]

    def add(self, form: str, **slots: int) -> None:
        """The next sentence."""
        sentence = Sentence(form, slots)
        self.world.follow(sentence)
        self.sentences.append(sentence)

    def story(self) -> list[Sentence]:
        """Opening, one or two episodes, end."""
        size = {slot: range(len(words)) for slot, words in WORDS["en"].items()}
        people, thing, color = self.some(size["a"], 3 if self.chance(0.3) else 2), self.one(size["t"]), self.one(size["c"])
        self.add("day", w=self.one(size["w"]), d=self.one(size["d"]))
        for a, p in zip(people, self.some(size["p"], len(people))):
            self.add("was", a=a, p=p)
        self.add("owned", c=color, t=thing, a=self.one(people))
        self.introduced = len(self.sentences)
        for episode in self.some(("gift", "gift", "trip"), 2 if self.chance(0.75) else 1):
            getattr(self, episode)(thing)
        self.add("kept", c=color, t=thing, a=self.world.owners[thing])
        return self.sentences

    def gift(self, t: int) -> None:
        """Somebody wants the thing; the two come together, and it changes hands."""
        places, a = self.world.places, self.world.owners[t]
        b = self.one([person for person in places if person != a])
        self.add("wanted", a=b, t=t)
        if places[a] != places[b] and self.chance(0.5):
            self.add("brought", a=a, t=t, b=b)
        elif places[a] != places[b]:
            self.add("joined", a=b, b=a)
        self.add("gave", a=a, t=t, b=b)
        self.add("thanked", a=b, b=a)
        self.use(t)

    def trip(self, t: int) -> None:
        """Somebody goes somewhere else, with the thing if he has it."""
        a, q = self.one(list(self.world.places)), self.one(range(len(WORDS["en"]["q"])))
        if self.world.owners[t] == a:
            self.add("carried", a=a, t=t, q=q)
            self.use(t)
        else:
            self.add("went", a=a, q=q)

    def use(self, t: int) -> None:
        """Perhaps the owner does with the thing what it is for."""
        if self.chance(0.5):
            self.add("used", a=self.world.owners[t], u=t)


@dataclass(frozen=True)
class Form:
    """A form of one language: fixed texts, and between them the words of each slot as they stand there."""

    parts: tuple[tuple[str, str | None, tuple[str, ...]], ...]  # (fixed text, the slot behind it, its words)
    pattern: re.Pattern[str]

    def fill(self, slots: dict[str, int]) -> str:
        """The sentence with these words."""
        return "".join([fixed + words[slots[slot]] if slot else fixed for fixed, slot, words in self.parts])

    def read(self, text: str) -> dict[str, int] | None:
        """Which words stand in the slots; None where this is another sentence."""
        match = self.pattern.fullmatch(text)
        return match and {slot: words.index(match[slot]) for _, slot, words in self.parts if slot}


@cache
def forms_of(language: str) -> dict[str, Form]:
    """The forms of "en" or "ko", by name."""
    if language not in FORMS:
        raise ArgumentError(tr("stories: expected one of the languages {}; got {}", ", ".join(LANGUAGES), shown(language)))
    found = {}
    for name, template in FORMS[language].items():
        parts, pattern = [], ""
        for fixed, slot, particle, _ in string.Formatter().parse(template):
            words = WORDS[language]["a" if slot == "b" else slot] if slot else ()
            written = tuple(format(Hole(word), particle or "") for word in words)
            parts.append((fixed, slot, written))
            pattern += re.escape(fixed) + (f"(?P<{slot}>{'|'.join(map(re.escape, written))})" if slot else "")
        found[name] = Form(tuple(parts), re.compile(pattern))
    return found


def stories(language: str, count: int = COUNT, seed: int = 0) -> list[str]:
    """So many stories of `language` ("en", "ko"), a line each; no two have the same opening.

    The same on every machine and in every version of Python.
    """
    forms, rng, found = forms_of(language), random.Random(seed), dict[str, str]()
    while len(found) < count:
        writer = Writer(rng)
        story = writer.story()
        said = [forms[sentence.form].fill(sentence.slots) for sentence in story]
        found.setdefault(" ".join(said[: writer.introduced]), " ".join(said))
    return list(found.values())


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each with its full stop, which the last one may lack."""
    return [sentence.strip() for sentence in re.findall(r"[^.]*\.|[^.]+$", text) if sentence.strip()]


def read_sentence(text: str, language: str) -> Sentence | None:
    """What a sentence says; None where the grammar has no such sentence."""
    for name, form in forms_of(language).items():
        slots = form.read(text)
        if slots is not None:
            return Sentence(name, slots)
    return None


def opening(story: str, language: str) -> str:
    """How a story begins: the day, where everyone is, and whose the thing is."""

    def introduces(sentence: str) -> bool:
        read = read_sentence(sentence, language)
        return read is not None and PART.get(read.form, MIDDLE) < MIDDLE

    return " ".join(takewhile(introduces, sentences_of(story)))


@dataclass(frozen=True)
class Reading:
    """What `check_story` found: how many sentences there are, how many the grammar has, and what does not agree."""

    sentences: int
    parsed: int
    objections: tuple[str, ...]  # a line for each sentence that the grammar lacks or the story contradicts, and for a missing end

    @property
    def consistent(self) -> bool:
        """Whether all of it is one story that agrees with itself from the opening to the end."""
        return not self.objections


def check_story(text: str, language: str) -> Reading:
    """Read one story of "en" or "ko": is each sentence one of the grammar's, does each agree with those before it, is the end told?

    >>> check_story("It was a cold evening. Ben was at the lake. A red kite belonged to Ben. At night the blue kite was with Ben.",
    ...             "en").objections
    ('At night the blue kite was with Ben.: the thing has another color',)
    """
    world, objections, parsed, sentences = World(), list[str](), 0, sentences_of(text)
    for sentence in sentences:
        read = read_sentence(sentence, language)
        if read is None:
            objections.append(f"{sentence}: the grammar has no such sentence")
            continue
        parsed += 1
        try:
            world.follow(read)
        except Contradiction as error:
            objections.append(f"{sentence}: {error}")
    if not world.complete:
        objections.append("the end is missing: who has the thing")
    return Reading(len(sentences), parsed, tuple(objections))
