"""The backward of an embedding, by hand."""

from badak.autograd.differentiate import grad
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, used
from badak.nn import functional as F
from badak.tensor import tensor, zeros


def own(dy, ids, rows):
    w = zeros(rows, dy.shape[-1], dtype=dy.dtype, requires_grad=True)
    return grad(F.embedding(ids, w), w, dy)[0]


def cases() -> list[Case]:
    return [
        Case(Both("ids [2, 0] of 4 rows", "ids [2, 0], 행 4개"), (draw(2, 3), tensor([2, 0]), 4)),
        Case(Both("ids [1, 1, 3]: one id twice", "ids [1, 1, 3]: 한 ID가 두 번"), (draw(3, 2), tensor([1, 1, 3]), 4)),
        Case("ids (2, 3)", (draw(2, 3, 4), tensor([[0, 5, 5], [5, 2, 0]]), 6)),
        Case(Both("one id everywhere", "모든 자리가 같은 ID"), (draw(5, 3), tensor([1, 1, 1, 1, 1]), 2)),
        Case("ids (2, 2, 2)", (draw(2, 2, 2, 2), tensor([[[0, 1], [1, 1]], [[2, 0], [0, 1]]]), 3)),
    ]


def trial(program):
    return used(lambda dy, w, ids, **rest: (program.embedding_backward(dy, ids, w.shape[0]), None), "embedding_backward")


EXERCISE = Exercise(
    title=Both("Backward of an embedding by hand", "임베딩의 역전파를 손으로"),
    text=Both(
        """
y = w[ids] takes a row of w for each id. Given dy, return dw.

dy (..., C), ids (...) of integers in 0 .. rows - 1. Returns dw (rows, C).
A token that stands in five places sends five gradients to one row. A token that stands
nowhere gets zeros.
""",
        """
y = w[ids]는 각 ID마다 w의 한 행을 가져옵니다. dy가 주어지면 dw를 반환하세요.

dy (..., C), 0 .. rows - 1의 정수 ids (...). 반환값은 dw (rows, C)입니다.
다섯 곳에 나오는 토큰은 한 행으로 기울기를 다섯 번 보냅니다. 나오지 않는 토큰의 기울기는 0입니다.
""",
    ),
    solution='''\
def embedding_backward(dy, ids, rows):
    flat_dy = dy.reshape(-1, dy.shape[-1])
    flat_ids = ids.reshape(-1)
    dw = badak.zeros(rows, dy.shape[-1], dtype=dy.dtype)
    for place in range(len(flat_ids)):
        dw[flat_ids[place]] += flat_dy[place]
    return dw
''',
    derivation=Both(
        "y[n] = sum_r [ids[n] = r] w[r], so dw[r] = sum_n [ids[n] = r] dy[n]: a sum over all places with that id. dw[ids] += dy in NumPy\n"
        "writes each row once, whatever the number of places; index_add_ and one_hot^T dy do add.",
        "y[n] = sum_r [ids[n] = r] w[r]이므로 dw[r] = sum_n [ids[n] = r] dy[n], 곧 그 ID가 나오는 모든 곳의 합입니다. NumPy의 dw[ids] += dy는\n"
        "몇 번 나오든 각 행을 한 번만 씁니다. index_add_나 one_hot^T dy는 모두 더합니다.",
    ),
    hints=(
        Both("Make ids one axis long, and dy two.", "ids는 축 하나로, dy는 축 둘로 만드세요."),
        Both("Start with zeros; for each place add its dy to the row of its id.", "0에서 시작해 각 자리의 dy를 그 ID의 행에 더하세요."),
        Both("dw[ids] += dy loses repeated ids. A loop, index_add_, or one_hot(ids)^T @ dy does not.",
             "dw[ids] += dy는 반복되는 ID를 잃습니다. 반복문, index_add_, one_hot(ids)^T @ dy는 그렇지 않습니다."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("repeated ids overwrite each other: the last place wins", "반복되는 ID가 서로 덮어씁니다: 마지막 자리만 남습니다", ("] += flat_dy", "] = flat_dy")),
        Mistake("the first place of a repeated id wins", "반복되는 ID 중 첫 번째 자리만 남습니다", ("range(len(flat_ids))", "reversed(range(len(flat_ids)))"), ("] += flat_dy", "] = flat_dy")),
        Mistake("gradients of repeated ids are averaged, not added", "반복되는 ID의 기울기를 더하지 않고 평균을 냈습니다",
                ("+= flat_dy[place]", "+= flat_dy[place] / (flat_ids == flat_ids[place]).sum()")),
        Mistake("the result is divided by the number of places", "결과를 자리의 수로 나누었습니다", ("return dw", "return dw / len(flat_ids)")),
        Mistake("the last place is left out", "마지막 자리가 빠졌습니다", ("range(len(flat_ids))", "range(len(flat_ids) - 1)")),
        Mistake("the first place is left out", "첫 번째 자리가 빠졌습니다", ("range(len(flat_ids))", "range(1, len(flat_ids))")),
        Mistake("the gradient goes to the row of the place, not to that of the id", "기울기가 ID의 행이 아니라 자리 번호의 행으로 갑니다", ("dw[flat_ids[place]]", "dw[place % rows]")),
        Mistake("the rows start with ones, not with zeros", "0이 아니라 1에서 시작했습니다", ("badak.zeros", "badak.ones")),
        Mistake("the sign is wrong", "부호가 반대입니다", ("+= flat_dy", "-= flat_dy")),
        Mistake("dy is returned as it is", "dy를 그대로 반환했습니다", ("return dw", "return dy")),
        Mistake("the id 0 is taken as padding", "ID 0을 패딩으로 보았습니다", ("return dw", "dw[0] = 0\n    return dw")),
        Mistake("dw has as many rows as dy, not as w", "dw의 행 수가 w가 아니라 dy의 행 수입니다", ("badak.zeros(rows,", "badak.zeros(max(rows, len(flat_ids)),")),
        Mistake("the rows of ids are taken together: ids that repeat within one are added once", "ids의 행을 한꺼번에 더해, 한 행에서 반복되는 ID가 한 번만 더해집니다",
                ("range(len(flat_ids))", "range(len(ids))"), ("dw[flat_ids[place]] += flat_dy[place]", "dw[ids[place]] += dy[place]")),
        Mistake("dw ends at the largest id, and not at `rows`", "dw가 `rows`가 아니라 가장 큰 ID에서 끝납니다", ("badak.zeros(rows,", "badak.zeros(int(ids.max()) + 1,")),
    ),
    trial=trial,
)  # fmt: skip
