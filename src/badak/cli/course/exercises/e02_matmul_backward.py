"""The backward of a matrix product, by hand."""

from badak.autograd.differentiate import grad
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, used


def own(dy, a, b):
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    return grad(a @ b, (a, b), dy)


def cases() -> list[Case]:
    shapes = [((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 2)), ((1, 4, 3), (6, 3, 2)),
              ((2, 3, 3), (2, 3, 3)), ((2, 3, 4, 5), (2, 1, 5, 3))]  # fmt: skip
    rows = []
    for first, second in shapes:
        a, b = draw(*first), draw(*second, seed=1)
        rows.append(Case(f"a {first}, b {second}", (draw(*(a @ b).shape, seed=2), a, b)))
    return rows


EXERCISE = Exercise(
    title=Both("Backward of a matrix product by hand", "행렬 곱의 역전파를 손으로"),
    text=Both(
        """
y = a @ b. Given dy, the gradient of the loss with respect to y, return (da, db).

a (..., n, k), b (..., k, m), dy (..., n, m). The leading axes broadcast as in PyTorch:
a (5, 2, 3) @ b (3, 4) uses b five times. What is used several times gets the sum of the
gradients of all its uses, so da has the shape of a and db that of b.

reduced(d, x) is a helper that you may use, or leave: d summed to the shape of x.
""",
        """
y = a @ b입니다. 손실을 y로 미분한 기울기 dy가 주어지면 (da, db)를 반환하세요.

a (..., n, k), b (..., k, m), dy (..., n, m). 앞쪽 축은 PyTorch처럼 브로드캐스트됩니다.
a (5, 2, 3) @ b (3, 4)는 b를 다섯 번 씁니다. 여러 번 쓰인 값의 기울기는 모든 쓰임의
기울기를 더한 것입니다. 따라서 da의 형상은 a와, db의 형상은 b와 같습니다.

reduced(d, x)는 d를 x의 형상이 되도록 더하는 보조 함수입니다. 쓰지 않아도 됩니다.
""",
    ),
    solution='''\
def matmul_backward(dy, a, b):
    da = dy @ b.transpose(-2, -1)
    db = a.transpose(-2, -1) @ dy
    return reduced(da, a), reduced(db, b)


def reduced(d, x):
    while d.ndim > x.ndim:
        d = d.sum(0)
    for axis in range(x.ndim - 2):
        if x.shape[axis] == 1:
            d = d.sum(axis, keepdim=True)
    return d
''',
    derivation=Both(
        "y[i, j] = sum_k a[i, k] b[k, j], so dL/da[i, k] = sum_j dy[i, j] b[k, j] = (dy b^T)[i, k], and dL/db[k, j] = sum_i a[i, k] dy[i, j]\n"
        "= (a^T dy)[k, j]. A broadcast axis repeats one number; its gradient is the sum over the copies.",
        "y[i, j] = sum_k a[i, k] b[k, j]이므로 dL/da[i, k] = sum_j dy[i, j] b[k, j] = (dy b^T)[i, k]이고, dL/db[k, j] = sum_i a[i, k] dy[i, j]\n"
        "= (a^T dy)[k, j]입니다. 브로드캐스트는 한 수를 여러 번 쓰는 것이므로 기울기는 그 모두의 합입니다.",
    ),
    hints=(
        Both("Start with two axes. Which product of dy and b has the shape of a?", "축이 두 개일 때부터 시작하세요. dy와 b의 어떤 곱이 a의 형상이 됩니까?"),
        Both("da = dy b^T, db = a^T dy; transpose the last two axes only.", "da = dy b^T, db = a^T dy입니다. 마지막 두 축만 전치하세요."),
        Both("Where a leading axis of x is absent or 1, sum the gradient over that axis, with keepdim=True where it is 1.",
             "x에 앞쪽 축이 없거나 크기가 1이면 그 축으로 기울기를 더하세요. 크기가 1인 축은 keepdim=True로 남깁니다."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("the gradient is not summed over broadcast axes", "브로드캐스트된 축으로 기울기를 더하지 않았습니다",
                ("return reduced(da, a), reduced(db, b)", "return da, db")),
        Mistake("the gradient is averaged over broadcast axes, not summed", "브로드캐스트된 축으로 더하지 않고 평균을 냈습니다",
                ("d.sum(0)", "d.mean(0)"), ("d.sum(axis", "d.mean(axis")),
        Mistake("axes of size 1 are not summed", "크기가 1인 축을 더하지 않았습니다", ("if x.shape[axis] == 1", "if False")),
        Mistake("b is not transposed", "b를 전치하지 않았습니다", ("dy @ b.transpose(-2, -1)", "dy @ b")),
        Mistake("a is not transposed", "a를 전치하지 않았습니다", ("a.transpose(-2, -1) @ dy", "a @ dy")),
        Mistake("da and db are swapped", "da와 db의 순서가 바뀌었습니다", ("return reduced(da, a), reduced(db, b)", "return reduced(db, b), reduced(da, a)")),
        Mistake("the first copy is taken in the place of the sum", "합 대신 첫 번째 것만 가져왔습니다", ("d.sum(0)", "d[0]")),
        Mistake("all axes are transposed, not the last two", "마지막 두 축이 아니라 모든 축을 전치했습니다",
                ("b.transpose(-2, -1)", "b.permute(*range(b.ndim)[::-1])"), ("a.transpose(-2, -1)", "a.permute(*range(a.ndim)[::-1])")),
        Mistake("the first two axes are transposed, not the last two", "마지막 두 축이 아니라 처음 두 축을 전치했습니다", ("transpose(-2, -1)", "transpose(0, 1)")),
        Mistake("the factors of db are in the wrong order", "db의 곱하는 순서가 바뀌었습니다",
                ("a.transpose(-2, -1) @ dy", "(dy.transpose(-2, -1) @ a)")),
    ),
    trial=lambda program: used(program.matmul_backward, "matmul_backward"),
)  # fmt: skip
