"""Byte pair encoding: which pairs are merged."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake

WORDS = [
    ({"ab": 3}, 1),
    ({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 4),
    ({"aaaa": 2, "aab": 1}, 3),
    ({"aaab": 3}, 3),
    ({"abab": 2, "abc": 3, "bc": 1}, 3),
    ({"ab": 2, "cd": 2, "ef": 2}, 2),
    ({"banana": 4, "bandana": 3, "an": 1}, 6),
    ({"x": 9, "yz": 1}, 5),
    ({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 3),
]

EXERCISE = Exercise(
    function="merges",
    title=Both("Byte pair encoding", "바이트 페어 인코딩(BPE)"),
    text=Both(
        """
Learn the merges of a subword vocabulary. Each word begins as its characters. In each round:

  count every pair of neighbours in every word, times how often the word occurs;
  take the most frequent pair; of several, the one that is smallest as a tuple of strings;
  merge it everywhere, from left to right: (a, b) -> ab.

merges(words, count): words is a dict from word to number of occurrences. Returns the list of
merged pairs, tuples of two strings, in order: `count` of them, or fewer where no pair is left.

merged(parts, pair) is a helper that you may use, or leave: the list of parts with the pair merged.
""",
        """
서브워드 어휘의 병합을 학습합니다. 단어는 문자들로 시작합니다. 한 번에 다음을 합니다.

  모든 단어에서 이웃한 쌍을 세고, 단어가 나온 횟수를 곱합니다.
  가장 많은 쌍을 고릅니다. 여럿이면 문자열의 튜플로서 가장 작은 것을 고릅니다.
  그 쌍을 모든 곳에서 왼쪽부터 병합합니다: (a, b) -> ab.

merges(words, count): words는 단어에서 횟수로 가는 dict입니다. 병합한 쌍(문자열 두 개의 튜플)의 리스트를
순서대로 반환하세요. 길이는 `count`이고, 남은 쌍이 없으면 더 짧습니다.

merged(parts, pair)는 조각의 리스트에서 그 쌍을 병합하는 보조 함수입니다. 쓰지 않아도 됩니다.
""",
    ),
    solution='''\
def merges(words, count):
    split = {word: list(word) for word in words}
    found = []
    for _ in range(count):
        pairs = {}
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] = pairs.get(pair, 0) + words[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        found.append(best)
        split = {word: merged(parts, best) for word, parts in split.items()}
    return found


def merged(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            out.append(parts[i] + parts[i + 1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out
''',
    derivation=Both(
        "A merge shortens the corpus by the number of its places, so taking the most frequent pair is the greedy way to a short corpus with\n"
        "`count` new tokens. Counting words once with their number makes a round cost the vocabulary, not the corpus.",
        "병합 하나는 나오는 자리의 수만큼 코퍼스를 줄입니다. 따라서 가장 많은 쌍을 고르는 것이 새 토큰 `count`개로 코퍼스를 짧게 만드는\n"
        "탐욕적인 방법입니다. 단어를 횟수와 함께 한 번만 세면 비용이 코퍼스가 아니라 어휘에 비례합니다.",
    ),
    hints=(
        Both("Keep for each word a list of its parts; zip(parts, parts[1:]) gives its pairs.", "단어마다 조각의 리스트를 두세요. zip(parts, parts[1:])이 이웃한 쌍을 줍니다."),
        Both("min(pairs, key=lambda pair: (-pairs[pair], pair)) takes the most frequent, then the smallest.", "min(pairs, key=lambda pair: (-pairs[pair], pair))가 가장 많은 것을, 같으면 가장 작은 것을 고릅니다."),
        Both("In a merge, skip two parts where the pair is found: a a a has one pair (a, a) to merge.", "병합할 때 쌍을 찾으면 두 조각을 건너뛰세요: a a a에서 (a, a)는 한 번만 병합됩니다."),
    ),
    cases=lambda: [Case(f"{words}, count={count}", (words, count)) for words, count in WORDS],
    mistakes=(
        Mistake("a word counts once, not as often as it occurs", "단어를 나온 횟수만큼 세지 않고 한 번만 셌습니다", ("+ words[word]", "+ 1")),
        Mistake("of several pairs the first one found is taken, not the smallest", "같은 횟수의 쌍 중 가장 작은 것이 아니라 먼저 찾은 것을 골랐습니다", ("(-pairs[pair], pair)", "-pairs[pair]")),
        Mistake("of several pairs the largest is taken, not the smallest", "같은 횟수의 쌍 중 가장 작은 것이 아니라 가장 큰 것을 골랐습니다", ("min(pairs, key=lambda pair: (-pairs[pair], pair))", "max(pairs, key=lambda pair: (pairs[pair], pair))")),
        Mistake("the rarest pair is taken", "가장 드문 쌍을 골랐습니다", ("(-pairs[pair], pair)", "(pairs[pair], pair)")),
        Mistake("the pairs are not merged in the words", "단어에서 쌍을 병합하지 않았습니다", ("        split = {word: merged(parts, best) for word, parts in split.items()}\n", "")),
        Mistake("pairs are counted once and not again after each merge", "병합할 때마다 다시 세지 않고 쌍을 한 번만 셌습니다",
                ("        pairs = {}\n", "        pairs = pairs if found else {}\n        for pair in found:\n            pairs.pop(pair, None)\n"),
                ("        for word, parts in split.items():\n", "        for word, parts in split.items() if not found else []:\n")),
        Mistake("a merged part is used twice: overlapping pairs are merged, too", "겹치는 쌍까지 병합해 한 조각을 두 번 썼습니다", ("i += 2", "i += 1")),
        Mistake("only the first place in each word is merged", "단어마다 첫 번째 자리만 병합했습니다", ("            i += 2\n", "            return out + parts[i + 2 :]\n")),
        Mistake("it goes on where no pair is left", "남은 쌍이 없는데도 계속합니다", ("        if not pairs:\n            break\n", "        if not pairs:\n            found.append(('', ''))\n            continue\n")),
        Mistake("the merged strings are returned, not the pairs", "쌍이 아니라 병합된 문자열을 반환했습니다", ("found.append(best)", "found.append(best[0] + best[1])")),
        Mistake("there is one merge too few", "병합이 하나 모자랍니다", ("range(count)", "range(count - 1)")),
        Mistake("there is one merge too many", "병합이 하나 더 많습니다", ("range(count)", "range(count + 1)")),
        Mistake("pairs across words are counted: words must not touch", "단어를 넘는 쌍을 셌습니다: 단어끼리는 이어지지 않습니다",
                ("        if not pairs:", "        every = list(split)\n        for one, two in zip(every, every[1:]):\n            pair = (split[one][-1], split[two][0])\n            pairs[pair] = pairs.get(pair, 0) + min(words[one], words[two])\n        if not pairs:")),
        Mistake("it goes on where no pair is left", "남은 쌍이 없는데도 계속합니다", ("        if not pairs:\n            break\n", "")),
    ),
)  # fmt: skip
