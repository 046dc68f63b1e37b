"""Beam search."""

import zlib

import numpy as np

from badak.cli.course.exercise import Both, Case, Exercise, Mistake


def model(vocabulary: int, seed: int):
    """log-probabilities of the next token, which depend on all the tokens before."""

    def score(tokens):
        draw = np.random.default_rng(zlib.crc32(bytes([seed, *tokens])))
        logits = draw.standard_normal(vocabulary) * 2
        return [float(x) for x in logits - np.log(np.exp(logits).sum())]

    return score


def trap(tokens):
    """The best first token leads to bad ones."""
    p = {(): [0.1, 0.5, 0.4], (1,): [0.34, 0.33, 0.33], (2,): [0.05, 0.9, 0.05]}.get(tuple(tokens[1:]), [0.9, 0.05, 0.05])
    return [float(x) for x in np.log(p)]


def call(program, score, start, end, width, length):
    found = program.beam_search(score, start, end, width, length)
    return [token if isinstance(token, tuple | list) else int(token) for token in found]


def cases() -> list[Case]:
    rows: list[tuple] = [
        (Both("one step", "한 스텝"), model(4, 1), 1, 0, 2, 1),
        (Both("width 1 is greedy", "width 1은 탐욕적 탐색"), model(5, 2), 1, 0, 1, 6),
        (Both("a trap for greedy search, width 1", "탐욕적 탐색의 함정, width 1"), trap, 0, 0, 1, 2),
        (Both("a trap for greedy search, width 2", "탐욕적 탐색의 함정, width 2"), trap, 0, 0, 2, 2),
    ]
    rows += [(f"V={v}, width={w}, length={n}, seed={s}", model(v, s), 2, 0, w, n)
             for v, w, n, s in [(4, 2, 5, 3), (5, 3, 6, 4), (6, 4, 5, 5), (3, 8, 6, 6), (8, 2, 8, 7), (4, 3, 7, 8), (5, 5, 4, 9), (6, 2, 9, 10), (3, 2, 6, 11), (4, 4, 8, 12), (4, 2, 4, 13), (4, 2, 6, 5), (4, 2, 6, 51), (5, 2, 4, 5), (4, 2, 4, 12)]]  # fmt: skip
    return [Case(label, (score, [start], end, width, length), call) for label, score, start, end, width, length in rows]


EXERCISE = Exercise(
    title=Both("Beam search", "빔 서치"),
    text=Both(
        """
Find a likely sequence without following every path.

score(tokens) gives the log-probability of each next token, a list of V floats. start: a list of
tokens. At each step every open sequence goes on with every token; of all these the `width` with
the largest sum of log-probabilities stay. Those of them that end with the token `end` are
finished: they are set aside and go on no more. Stop after `length` steps, or where none is open.

Return the sequence (start and end included) with the largest sum, of the finished and the open.
""",
        """
모든 경로를 따라가지 않고 그럴듯한 시퀀스를 찾습니다.

score(tokens)는 다음 토큰 각각의 로그 확률, 곧 float V개의 리스트를 줍니다. start: 토큰의 리스트.
각 스텝에서 열린 시퀀스마다 모든 토큰을 이어 보고, 그 전체에서 로그 확률의 합이 가장 큰 `width`개가
남습니다. 그중 토큰 `end`로 끝나는 것은 완성된 것이며, 따로 두고 더 잇지 않습니다. `length` 스텝 뒤에,
또는 열린 것이 없을 때 멈춥니다.

완성된 것과 열린 것 중에서 합이 가장 큰 시퀀스(start와 end를 포함)를 반환하세요.
""",
    ),
    solution='''\
def beam_search(score, start, end, width, length):
    beams, finished = [(0.0, list(start))], []
    for _ in range(length):
        found = []
        for total, tokens in beams:
            for token, logp in enumerate(score(tokens)):
                found.append((total + logp, [*tokens, token]))
        found = sorted(found, key=lambda each: -each[0])[:width]
        finished += [each for each in found if each[1][-1] == end]
        beams = [each for each in found if each[1][-1] != end]
        if not beams:
            break
    return max(finished + beams, key=lambda each: each[0])[1]
''',
    derivation=Both(
        "log p(tokens) = sum_t log p(token_t | those before): products of probabilities become sums, which do not underflow. Width 1 is greedy;\n"
        "width V^length is an exhaustive search. The sum only falls, so longer sequences score lower: models that write long texts divide\n"
        "it by a power of the length.",
        "log p(tokens) = sum_t log p(token_t | 앞의 토큰들): 확률의 곱이 합이 되어 언더플로하지 않습니다. width 1은 탐욕적 탐색이고\n"
        "V^length이면 전수 탐색입니다. 합은 줄기만 하므로 긴 시퀀스의 점수가 낮습니다. 긴 텍스트를 쓰는 모델은 길이의 거듭제곱으로\n"
        "나눕니다.",
    ),
    hints=(
        Both("Keep pairs (sum of log-probabilities, tokens), and begin with (0.0, start).", "(로그 확률의 합, 토큰들) 쌍을 두고 (0.0, start)로 시작하세요."),
        Both("The best `width` are chosen among the continuations of all sequences, not of each.", "`width`개는 시퀀스마다가 아니라 모든 시퀀스의 이어진 것 전체에서 고릅니다."),
        Both("Split what stays by its last token: finished or open.", "남은 것을 마지막 토큰으로 나누세요: 완성된 것과 열린 것."),
    ),
    cases=cases,
    mistakes=(
        Mistake("the best `width` are taken of each sequence, not of all together", "전체가 아니라 시퀀스마다 `width`개를 골랐습니다",
                ("        found = sorted(found, key=lambda each: -each[0])[:width]\n", ""),
                ("            for token, logp in enumerate(score(tokens)):\n", "            for token, logp in sorted(enumerate(score(tokens)), key=lambda row: -row[1])[:width]:\n")),
        Mistake("this is greedy search: one sequence stays", "탐욕적 탐색입니다: 시퀀스 하나만 남습니다", ("[:width]", "[:1]")),
        Mistake("log-probabilities are not added: only the last one counts", "로그 확률을 더하지 않고 마지막 것만 셌습니다", ("total + logp", "logp")),
        Mistake("log-probabilities are multiplied, not added", "로그 확률을 더하지 않고 곱했습니다", ("total + logp", "(total or 1.0) * logp")),
        Mistake("the least likely sequences stay", "가장 가능성이 낮은 시퀀스가 남습니다", ("-each[0]", "each[0]")),
        Mistake("the least likely of the results is returned", "결과 중 가능성이 가장 낮은 것을 반환했습니다", ("return max(", "return min(")),
        Mistake("finished sequences are lost", "완성된 시퀀스를 잃습니다", ("finished + beams", "beams or finished")),
        Mistake("only finished sequences are returned, where open ones may be better", "열린 것이 더 나을 수 있는데 완성된 것만 반환했습니다", ("finished + beams", "finished or beams")),
        Mistake("the first finished sequence is returned at once", "처음 완성된 시퀀스를 바로 반환했습니다", ("if not beams:\n            break", "if finished:\n            return finished[0][1]")),
        Mistake("sums are divided by the length", "합을 길이로 나누었습니다", ("each[0])[1]", "each[0] / len(each[1]))[1]")),
        Mistake("the longest sequence is returned, not the most likely", "가장 가능성이 높은 것이 아니라 가장 긴 것을 반환했습니다", ("max(finished + beams, key=lambda each: each[0])", "max(finished + beams, key=lambda each: (len(each[1]), each[0]))")),
        Mistake("it makes one step too many", "한 스텝을 더 갔습니다", ("range(length)", "range(length + 1)")),
        Mistake("it makes one step too few", "한 스텝이 모자랍니다", ("range(length)", "range(max(1, length - 1))")),
        Mistake("end is not kept in the result", "결과에 end가 없습니다", ("each: each[0])[1]", "each: each[0])[1]\n    return [t for t in out if t != end]"), ("return max", "out = max")),
        Mistake("start is not in the result", "결과에 start가 없습니다", ("each: each[0])[1]", "each: each[0])[1][len(start):]")),
        Mistake("sequences that end are put back after the choice, so that more than `width` stay", "끝난 시퀀스를 고르기 전에 빼서 `width`개보다 많이 남습니다",
                ("        found = sorted(found, key=lambda each: -each[0])[:width]\n", ""),
                ("        beams = [each for each in found if each[1][-1] != end]\n", "        beams = sorted([each for each in found if each[1][-1] != end], key=lambda each: -each[0])[:width]\n")),
        Mistake("sequences that have ended go on", "끝난 시퀀스가 계속 이어집니다",
                ("        finished += [each for each in found if each[1][-1] == end]\n        beams = [each for each in found if each[1][-1] != end]\n", "        beams = found\n")),
    ),
)  # fmt: skip
