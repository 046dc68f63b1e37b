"""What a model is asked on the whole path: questions about stories that badak writes, and sums. Each answer can be checked.

asked, answer = story_question(story, "en", random.Random(0))
"... Anna gave the kite to Ben. Who has the kite?", "Ben has the kite."
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from badak.core.i18n.particles import Hole
from badak.data.stories import WORDS, World, read_sentence, sentences_of

SUM = {"en": "What is {x} + {y}?", "ko": "{x} + {y:은는} 얼마인가요?"}
FORMS = {  # a question and its answer, for each fact that the world of a story knows
    "en": {
        "where": ("Where is {a}?", "{a} is at the {p}."),
        "who": ("Who has the {t}?", "{a} has the {t}."),
        "color": ("What color is the {t}?", "The {t} is {c}."),
    },
    "ko": {
        "where": ("{a:은는} 어디에 있나요?", "{a:은는} {p}에 있어요."),
        "who": ("{t:은는} 누가 가지고 있나요?", "{a:이가} {t:을를} 가지고 있어요."),
        "color": ("{t:은는} 무슨 색인가요?", "{c} {t}입니다."),
    },
}
LARGEST = 99
OF_FIVE = ((21, 34), (27, 35), (86, 47))


@dataclass(frozen=True)
class Asked:
    """A question and its only right answer."""

    question: str
    answer: str


def sum_question(x: int, y: int, language: str) -> Asked:
    """What is x + y?"""
    return Asked(SUM[language].format(x=x, y=Hole(str(y))), f"{x + y}.")


def carries(x: int, y: int) -> bool:
    """Whether a one is carried from the last digits."""
    return x % 10 + y % 10 >= 10


def sums(seed: int) -> list[tuple[int, int]]:
    """All sums of two numbers of two digits but those of FIVE, in an order drawn by the seed."""
    pairs = [(x, y) for x in range(10, LARGEST + 1) for y in range(10, LARGEST + 1) if (x, y) not in OF_FIVE]
    random.Random(seed).shuffle(pairs)
    return pairs


def story_question(story: str, language: str, rng: random.Random) -> Asked:
    """The beginning of a story up to a sentence that is drawn, and a question whose answer the story has told."""
    sentences = sentences_of(story)
    told = sentences[: rng.randrange(3, len(sentences))]
    world = World()
    for sentence in told:
        read = read_sentence(sentence, language)
        assert read is not None, sentence  # noqa: S101  (a story of the grammar)
        world.follow(read)
    words = WORDS[language]
    kind = rng.choice(["where", "who", "color"] if world.owners else ["where"])
    if kind == "where":
        a = rng.choice(sorted(world.places))
        slot, place = world.places[a]
        named = {"a": words["a"][a], "p": words[slot][place]}
    else:
        t = rng.choice(sorted(world.owners))
        named = {"t": words["t"][t], "a": words["a"][world.owners[t]], "c": words["c"][world.colors[t]]}
    asked, answer = (form.format(**{name: Hole(word) for name, word in named.items()}) for form in FORMS[language][kind])
    return Asked(f"{' '.join(told)} {asked}", answer)


def story_questions(stories: Sequence[str], language: str, seed: int) -> list[Asked]:
    """One question for each story."""
    rng = random.Random(seed)
    return [story_question(story, language, rng) for story in stories]


FIVE = {  # asked after each stage
    "en": (
        "It was a cold evening. Ben was at the lake. Emma was at the school. A red kite belonged to Ben. Where is Emma?",
        "It was a warm morning. Max was at the park. Nora was at the river. A blue drum belonged to Max. Nora wanted the drum. "
        "Nora went to Max. Max gave the drum to Nora. Who has the drum?",
        *(sum_question(x, y, "en").question for x, y in OF_FIVE),
    ),
    "ko": (
        "추운 저녁이었어요. 서연은 호숫가에 있었어요. 준호는 학교에 있었어요. 빨간 연은 서연의 것이었어요. 준호는 어디에 있나요?",
        "따뜻한 아침이었어요. 지훈은 공원에 있었어요. 수아는 강에 있었어요. 파란 북은 지훈의 것이었어요. 수아는 북을 갖고 싶어 "
        "했어요. 수아는 지훈에게 갔어요. 지훈은 수아에게 북을 주었어요. 북은 누가 가지고 있나요?",
        *(sum_question(x, y, "ko").question for x, y in OF_FIVE),
    ),
}
