"""Korean particles, whose form depends on the last sound of the word before them: 마스크는, 텐서를, 512로, 3으로."""

import re
from collections.abc import Callable

PAIRS = {  # what a hole names it: after a consonant, after a vowel
    "은는": ("은", "는"),
    "이가": ("이", "가"),
    "을를": ("을", "를"),
    "과와": ("과", "와"),
    "으로로": ("으로", "로"),  # ㄹ counts as a vowel
    "이": ("이", ""),  # 이다, 이라면, 이고, 이나: f"{0:이}고"
}
LISTS = {"또는": " or ", "그리고": " and "}  # before a pair, or alone: the hole holds several things, joined by this in English
NONE, CONSONANT, RIEUL = range(3)
DIGITS = (CONSONANT, RIEUL, NONE, CONSONANT, NONE, NONE, CONSONANT, RIEUL, RIEUL, NONE)  # 영 일 이 삼 사 오 육 칠 팔 구
_SHORT = re.compile(r"(^|[^aeiou])[aeiou](p|t|ck|k|b)$")  # 맵, 비트, 블록: one short vowel and a stop


def of_list(form: str) -> tuple[str, str]:
    """("또는", "을를") of the form "또는을를", ("", "을를") of "을를"."""
    word = next((word for word in LISTS if form.startswith(word)), "")
    return word, form[len(word) :]


class Hole(str):
    """What stands in a hole of a message: `f"{Hole('mask'):을를}"` is "mask를", `f"{Hole('1D or 2D'):또는}"` is "1D 또는 2D".

    `part` says each member of a list.
    """

    part: Callable[[str], str] = staticmethod(str)

    def __format__(self, form: str) -> str:
        word, pair = of_list(form)
        members = self.split(LISTS[word]) if word else [self]
        if len(members) > 1:
            said = [Hole(self.part(member)) for member in members]
            joint = [f"{each:과와} " for each in said[:-1]] if word == "그리고" else [f"{each} {word} " for each in said[:-1]]
            return format(Hole("".join([*joint, said[-1]])), pair)
        if not pair:
            return str(self)
        after_consonant, after_vowel = PAIRS[pair]
        sound = last_sound(self)
        if pair == "으로로":
            return str(self) + (after_consonant if sound == CONSONANT else after_vowel)
        return str(self) + (after_consonant if sound else after_vowel)


def last_sound(text: str) -> int:
    """How the last word ends when a Korean reads it aloud; quotes and brackets are silent."""
    words = re.findall(r"[가-힣]+|[A-Za-z]+|[0-9]+", text)
    if not words:
        return NONE
    word = words[-1]
    if "가" <= word[-1] <= "힣":
        final = (ord(word[-1]) - ord("가")) % 28
        return NONE if final == 0 else RIEUL if final == 8 else CONSONANT  # 8 is ㄹ
    if word.isdigit():
        return DIGITS[int(word[-1])]  # a last 0 is 영, 십, 백, 천, 만 ...: all end in a consonant
    if word.isupper():  # the letter's name: 엘, 엠, 엔, 알
        return RIEUL if word[-1] in "LR" else CONSONANT if word[-1] in "MN" else NONE
    return _english(word.lower())


def _english(word: str) -> int:
    """Of a word as Koreans borrow it: 모듈, 토큰, 맵 end in a consonant; s, f, d and most others gain a vowel (마스크, 배치)."""
    heard = word.removesuffix("e") if len(word) > 2 and word[-2:-1] in ("l", "m", "n") else word
    if heard.endswith("l"):
        return RIEUL
    return CONSONANT if heard.endswith(("m", "n", "ng")) or _SHORT.search(heard) else NONE
