"""A small set of opinions in Korean, made of parts: what is spoken of, how much, and what is said; each with a class and a number.

    "노래가 정말 좋아요"     good    9
    "배우는 좀 아쉬워요"     bad     4

A model learns them in seconds, and has to tell from parts that it knows what they mean together.
"""

import itertools

SUBJECTS = (
    "영화가", "노래가", "배우는", "줄거리가", "마지막 장면이", "이 책은", "화면이", "음식이", "날씨가", "여행이",
    "강의가", "대사는", "첫 장면은", "주인공이", "이 가게는", "전시회가", "연주가", "소설이", "만화가", "공연은",
)  # fmt: skip
GOOD = ("좋아요", "재미있어요", "훌륭해요", "감동적이에요", "마음에 들어요", "멋져요", "반가워요", "즐거워요")
BAD = ("나빠요", "지루해요", "별로예요", "실망스러워요", "마음에 안 들어요", "아쉬워요", "답답해요", "엉망이에요")
MORE = {"좀": 0, "꽤": 1, "정말": 2, "너무나": 3}  # by how much the number is farther from the middle

FEWER = 3  # every third of all sentences is enough


def opinions() -> list[tuple[str, str, str]]:
    """(sentence, "good" or "bad", a number from 1 to 10) of each opinion."""
    every = itertools.product(SUBJECTS, MORE.items(), zip(GOOD, BAD), (True, False))
    made = [
        (f"{subject} {how} {words[0] if good else words[1]}", "good" if good else "bad", str(7 + more if good else 4 - more))
        for subject, (how, more), words, good in every
    ]
    return made[::FEWER]
