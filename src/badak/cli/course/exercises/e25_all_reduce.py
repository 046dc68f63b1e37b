"""A ring all-reduce, and a step of data-parallel training with it."""

import numpy as np

from badak.cli.course.exercise import Both, Case, Exercise, Mistake, Refused


class Ring:
    """What the ranks send each other: to the next one only, each message at most one chunk."""

    def __init__(self, ranks: int, size: int):
        self.ranks, self.largest = ranks, -(-size // ranks)
        self.numbers = [0] * ranks
        self.refused: list[Both] = []

    def send(self, source, target, array):
        """Give the target a copy."""
        if target != (source + 1) % self.ranks:
            self.refused.append(
                Both(
                    f"rank {source} sends to rank {target}, not to the next one",
                    f"랭크 {source}에서 랭크 {target}까지: 바로 다음 랭크가 아닙니다",
                )
            )
        array = np.array(array)
        if array.size > self.largest:
            self.refused.append(
                Both(
                    f"a message has {array.size} numbers, and a chunk {self.largest} at most",
                    f"메시지의 수가 {array.size}개인데, 조각은 {self.largest}개 이하입니다",
                )
            )
        self.numbers[source % self.ranks] += array.size
        return array


def call(program, vectors):
    """What each rank has at the end, and whether each rank sent some, and not more than 2 (R - 1) chunks. Refused: a message that is not allowed."""
    R, n = len(vectors), len(vectors[0])
    ring = Ring(R, n)
    made = program.all_reduce(vectors, ring.send)
    limit = 2 * (R - 1) * ring.largest
    if ring.refused:
        raise Refused(ring.refused[0], Both("send(r, (r + 1) % R, one chunk)", "send(r, (r + 1) % R, 조각 하나)"))
    sent = Both("each rank sends its share, 2 (R - 1) chunks", "랭크마다 자기 몫인 2 (R - 1)조각을 보냄")
    return {Both("the sums", "합"): [np.asarray(y) for y in made], sent: all((R > 1) <= count <= limit for count in ring.numbers)}


def cases() -> list[Case]:
    draw = np.random.default_rng(0)
    return [Case(Both(f"{R} ranks, {n} numbers each", f"랭크 {R}개, 각각 수 {n}개"), ([draw.standard_normal(n) for _ in range(R)],), call)
            for R, n in [(1, 4), (2, 4), (2, 5), (3, 6), (4, 8), (4, 10), (5, 17), (3, 2)]]  # fmt: skip


def trial(program) -> str:
    """Linear regression on 3 ranks with shards of different sizes, next to one rank with all rows."""
    draw = np.random.default_rng(1)
    x, goal = draw.standard_normal((30, 5)), np.arange(5.0)
    y = x @ goal
    shards = [slice(0, 14), slice(14, 24), slice(24, 30)]
    alone, ranks = np.zeros(5), [np.zeros(5) for _ in shards]
    for _ in range(60):
        alone = alone - 0.3 * x.T @ (x @ alone - y) / len(x)
        sums = program.all_reduce([x[s].T @ (x[s] @ w - y[s]) for s, w in zip(shards, ranks)], Ring(3, 5).send)
        ranks = [w - 0.3 * np.asarray(g) / len(x) for w, g in zip(ranks, sums)]
    if not all(np.allclose(w, alone) for w in ranks):
        raise Refused(Both("training on 3 ranks gives other weights than on one", "랭크 3개로 학습한 가중치가 하나로 학습한 것과 다릅니다"),
                      Both("every rank must get the same sum", "모든 랭크가 같은 합을 받아야 합니다"))  # fmt: skip
    error = float(np.abs(ranks[0] - goal).max())
    return str(
        Both(
            f"3 ranks train as one does: the weights are off by {error:.1e} after 60 steps",
            f"랭크 3개가 하나처럼 학습했습니다: 60 스텝 뒤 가중치의 오차 {error:.1e}",
        )
    )


EXERCISE = Exercise(
    title=Both("Data-parallel training: a ring all-reduce", "데이터 병렬 학습: 링 all-reduce"),
    text=Both(
        """
R ranks each have a vector of n gradients; each must get the sum of all. They sit in a ring, and
a rank can send only to the next one: send(source, target, array) returns what the target
receives, target = (source + 1) % R. A message holds one chunk at most: n / R numbers, rounded up.

Cut each vector into R chunks. In R - 1 rounds of reduce-scatter each rank passes on a chunk, and
adds what it receives to its own: then rank r has the whole sum of one chunk. In R - 1 rounds of
all-gather the whole chunks go round. So a rank sends 2 (R - 1) n / R numbers, whatever R is.

all_reduce(vectors, send): vectors is a list of R NumPy arrays (n,). Returns a list of R arrays (n,).
""",
        """
랭크 R개에 각각 기울기 n개의 벡터가 있고, 모두 그 합을 받아야 합니다. 랭크는 고리로 이어져 있으며 다음
랭크에만 보낼 수 있습니다. send(source, target, array)는 target이 받는 것을 반환하고 target = (source + 1) % R입니다.
메시지 하나에는 많아야 조각 하나, 곧 n / R개(올림)의 수가 들어갑니다.

각 벡터를 조각 R개로 나누세요. reduce-scatter R - 1회 동안 각 랭크는 조각 하나를 넘기고 받은 것을 자기
것에 더합니다. 그러면 랭크마다 한 조각의 전체 합을 가집니다. all-gather R - 1회 동안 완성된 조각이 고리를
돕니다. 따라서 랭크 하나가 보내는 수는 R과 관계없이 약 2 n, 정확히는 2 (R - 1) n / R개입니다.

all_reduce(vectors, send): vectors는 NumPy 배열 (n,) R개의 리스트입니다. 배열 (n,) R개의 리스트를 반환하세요.
""",
    ),
    solution='''\
def all_reduce(vectors, send):
    R = len(vectors)
    parts = [np.array_split(vector, R) for vector in vectors]
    for step in range(R - 1):
        moved = [send(r, (r + 1) % R, parts[r][(r - step) % R]) for r in range(R)]
        for r in range(R):
            chunk = (r - 1 - step) % R
            parts[r][chunk] = parts[r][chunk] + moved[r - 1]
    for step in range(R - 1):
        moved = [send(r, (r + 1) % R, parts[r][(r + 1 - step) % R]) for r in range(R)]
        for r in range(R):
            parts[r][(r - step) % R] = moved[r - 1]
    return [np.concatenate(part) for part in parts]
''',
    derivation=Both(
        "In round s rank r sends chunk r - s and receives chunk r - 1 - s. A chunk that starts at rank r is, after R - 1 additions, complete at rank\n"
        "r - 1: so rank r holds chunk r + 1, sends it first in the second part, and receives chunk r. The mean of gradients over all rows is\n"
        "the all-reduced sum over their number: a mean of means is wrong where shards differ in size.",
        "s번째 회에 랭크 r은 조각 r - s를 보내고 조각 r - 1 - s를 받습니다. 랭크 r에서 출발한 조각은 R - 1번 더해진 뒤 랭크 r - 1에서\n"
        "완성됩니다. 따라서 랭크 r은 조각 r + 1을 가지고, 둘째 부분에서 그것을 먼저 보내고 조각 r을 받습니다. 모든 행에 대한 기울기의\n"
        "평균은 합을 행의 수로 나눈 것입니다. 샤드의 크기가 다르면 평균의 평균은 틀립니다.",
    ),
    hints=(
        Both("np.array_split(vector, R) cuts a vector into R chunks; work with parts[rank][chunk].", "np.array_split(vector, R)이 벡터를 조각 R개로 나눕니다. parts[랭크][조각]으로 생각하세요."),
        Both("All ranks send at the same time: collect what is sent in a list first, then add.", "모든 랭크가 동시에 보냅니다. 보낸 것을 먼저 리스트에 모으고, 그 다음 더하세요."),
        Both("Round s of the first part: rank r sends chunk (r - s) % R; of the second: (r + 1 - s) % R.", "첫째 부분 s번째 회: 랭크 r은 조각 (r - s) % R을, 둘째 부분에서는 (r + 1 - s) % R을 보냅니다."),
    ),
    cases=cases,
    trial=trial,
    mistakes=(
        Mistake("the mean is returned, not the sum", "합이 아니라 평균을 반환했습니다", ("np.concatenate(part)", "np.concatenate(part) / R")),
        Mistake("the second part is missing: each rank has the sum of one chunk only", "둘째 부분이 없어 랭크마다 한 조각의 합만 있습니다",
                ("    for step in range(R - 1):\n        moved = [send(r, (r + 1) % R, parts[r][(r + 1 - step) % R]) for r in range(R)]\n        for r in range(R):\n            parts[r][(r - step) % R] = moved[r - 1]\n", "")),
        Mistake("what is received replaces the own chunk where it must be added, or chunks that are not whole yet go round", "받은 조각을 더하지 않고 자기 것을 바꾸었거나, 아직 다 더하지 않은 조각을 돌렸습니다", ("parts[r][chunk] + moved[r - 1]", "moved[r - 1]")),
        Mistake("the second part adds, where it must replace", "둘째 부분에서 바꾸지 않고 더했습니다", ("parts[r][(r - step) % R] = moved", "parts[r][(r - step) % R] = parts[r][(r - step) % R] + moved")),
        Mistake("there is one round too many", "한 회가 더 많습니다", ("range(R - 1)", "range(R)")),
        Mistake("there is one round too few", "한 회가 모자랍니다", ("range(R - 1)", "range(max(0, R - 2))")),
        Mistake("whole vectors are sent, not chunks", "조각이 아니라 벡터 전체를 보냈습니다",
                ("    parts = [np.array_split(vector, R) for vector in vectors]\n", "    out, moving = [v.copy() for v in vectors], list(vectors)\n    for _ in range(R - 1):\n        moving = [send((r - 1) % R, r, moving[r - 1]) for r in range(R)]\n        out = [a + b for a, b in zip(out, moving)]\n    return out\n    parts = []\n")),
        Mistake("nothing is sent: the sum is taken where all vectors are in one place", "아무것도 보내지 않고 한곳에서 합을 구했습니다", ("    parts = [np.array_split(vector, R) for vector in vectors]\n", "    return [sum(vectors) for _ in vectors]\n    parts = []\n")),
        Mistake("all vectors go to rank 0, which is a star and no ring", "모든 벡터를 랭크 0으로 보냈습니다: 고리가 아니라 별 모양입니다",
                ("    parts = [np.array_split(vector, R) for vector in vectors]\n", "    total = vectors[0] + sum(send(r, 0, vectors[r]) for r in range(1, R))\n    return [total] + [send(0, r, total) for r in range(1, R)]\n    parts = []\n")),
        Mistake("each rank keeps its own vector", "랭크마다 자기 벡터를 그대로 두었습니다", ("    for step in range(R - 1):\n        moved = [send(r, (r + 1) % R, parts[r][(r - step) % R])", "    for step in range(0):\n        moved = [send(r, (r + 1) % R, parts[r][(r - step) % R])"),
                ("    for step in range(R - 1):\n        moved = [send(r, (r + 1) % R, parts[r][(r + 1", "    for step in range(0):\n        moved = [send(r, (r + 1) % R, parts[r][(r + 1")),
        Mistake("ranks send to the one before, not to the next", "다음이 아니라 앞의 랭크로 보냅니다", ("(r + 1) % R, parts", "(r - 1) % R, parts")),
        Mistake("vectors are added while others are still being sent, so that sums are passed on", "보내는 동안 더해서 이미 더한 합을 넘겼습니다",
                ("        moved = [send(r, (r + 1) % R, parts[r][(r - step) % R]) for r in range(R)]\n        for r in range(R):\n            chunk = (r - 1 - step) % R\n            parts[r][chunk] = parts[r][chunk] + moved[r - 1]\n",
                 "        for r in range(R):\n            chunk = (r - step) % R\n            to = (r + 1) % R\n            parts[to][chunk] = parts[to][chunk] + send(r, to, parts[r][chunk])\n            parts[to][chunk] = parts[to][chunk] + 0 * parts[to][chunk]\n"),
                ("(r - step) % R\n            to", "0\n            to")),
        Mistake("np.split needs R to divide n: np.array_split does not", "np.split은 n이 R로 나누어떨어져야 합니다. np.array_split은 그렇지 않습니다", ("np.array_split", "np.split")),
    ),
)  # fmt: skip
