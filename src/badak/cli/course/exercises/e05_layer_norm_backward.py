"""The backward of layer norm, by hand."""

from badak.autograd.differentiate import grad
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, used
from badak.nn import functional as F


def own(dy, x, w, b, eps=1e-5):
    x, w, b = (each.detach().requires_grad_() for each in (x, w, b))
    return grad(F.layer_norm(x, w.shape, w, b, eps), (x, w, b), dy)


def cases() -> list[Case]:
    rows = []
    for shape, eps, scale in [
        ((1, 4), 1e-5, 1.0),
        ((3, 5), 1e-5, 1.0),
        ((2, 3, 8), 1e-5, 3.0),
        ((4, 6), 0.5, 1.0),
        ((2, 2, 2, 4), 1e-5, 1.0),
    ]:
        x = draw(*shape) * scale + 2
        rows.append(Case(f"x {shape}, eps={eps}", (draw(*shape, seed=1), x, draw(shape[-1], seed=2), draw(shape[-1], seed=3), eps)))
    return rows


EXERCISE = Exercise(
    title=Both("Backward of layer norm by hand", "레이어 노름의 역전파를 손으로"),
    text=Both(
        """
h = (x - mean) / sqrt(var + eps),  y = w h + b.  mean and var go over the last axis;
var divides by C, not by C - 1.

x (..., C), w (C,), b (C,), dy (..., C). Return (dx, dw, db) in the shapes of x, w and b.
mean and var depend on every x of their row: dx has three terms.
""",
        """
h = (x - mean) / sqrt(var + eps),  y = w h + b입니다. mean과 var는 마지막 축으로 계산하며
var는 C - 1이 아니라 C로 나눕니다.

x (..., C), w (C,), b (C,), dy (..., C). x, w, b와 형상이 같은 (dx, dw, db)를 반환하세요.
mean과 var는 그 행의 모든 x에 의존하므로 dx에는 항이 세 개 있습니다.
""",
    ),
    solution='''\
def layer_norm_backward(dy, x, w, b, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    rstd = (var + eps) ** -0.5
    h = (x - mean) * rstd
    g = dy * w
    dx = rstd * (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))
    rows = (-1, x.shape[-1])
    dw = (dy * h).reshape(rows).sum(0)
    db = dy.reshape(rows).sum(0)
    return dx, dw, db
''',
    derivation=Both(
        "With g = dy w, the gradient of h: dh_j/dx_i = rstd ([i = j] - 1/C - h_i h_j / C), since dmean/dx_i = 1/C and\n"
        "drstd/dx_i = -rstd^2 h_i / C. So dx_i = sum_j g_j dh_j/dx_i = rstd (g_i - mean(g) - h_i mean(g h)): g without its components\n"
        "along the constant and along h. w and b are used once for each row: their gradients are sums over the rows.",
        "h의 기울기는 g = dy w입니다. dmean/dx_i = 1/C, drstd/dx_i = -rstd^2 h_i / C이므로 dh_j/dx_i = rstd ([i = j] - 1/C - h_i h_j / C)\n"
        "입니다. 따라서 dx_i = sum_j g_j dh_j/dx_i = rstd (g_i - mean(g) - h_i mean(g h))이고, 이는 g에서 상수 방향과 h 방향의 성분을\n"
        "뺀 것입니다. w와 b는 행마다 쓰이므로 그 기울기는 모든 행의 합입니다.",
    ),
    hints=(
        Both("Name the parts: mean, rstd = 1 / sqrt(var + eps), h, and g = dy w.", "부분에 이름을 붙이세요: mean, rstd = 1 / sqrt(var + eps), h, g = dy w."),
        Both("dw = the sum of dy h over all rows, db = the sum of dy.", "dw = 모든 행의 dy h의 합, db = dy의 합."),
        Both("dx = rstd (g - mean(g) - h mean(g h)), the means over the last axis.", "dx = rstd (g - mean(g) - h mean(g h)), 평균은 마지막 축으로 냅니다."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("mean and var are taken as constants: dx = g rstd", "mean과 var를 상수로 보았습니다: dx = g rstd",
                ("(g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))", "g")),
        Mistake("the term of the mean is missing in dx", "dx에 mean의 항이 없습니다", (" - g.mean(-1, keepdim=True)", "")),
        Mistake("the term of the variance is missing in dx", "dx에 var의 항이 없습니다", (" - h * (g * h).mean(-1, keepdim=True)", "")),
        Mistake("w is missing in dx: g = dy", "dx에 w가 없습니다: g = dy", ("g = dy * w", "g = dy")),
        Mistake("dw and db are not summed over all rows", "dw와 db를 모든 행에 대해 더하지 않았습니다", (".reshape(rows).sum(0)", "")),
        Mistake("dw and db are means over the rows, not sums", "dw와 db가 합이 아니라 행의 평균입니다", ("(rows).sum(0)", "(rows).mean(0)")),
        Mistake("only the first axis of dw and db is summed", "dw와 db를 첫 번째 축으로만 더했습니다", (".reshape(rows).sum(0)", ".sum(0)")),
        Mistake("the factor rstd is missing in dx", "dx에 rstd가 곱해지지 않았습니다", ("rstd * (g", "(g")),
        Mistake("the variance divides by C - 1", "분산을 C - 1로 나누었습니다", (".mean(-1, keepdim=True)\n    rstd", ".sum(-1, keepdim=True) / (x.shape[-1] - 1)\n    rstd")),
        Mistake("eps is outside the root", "eps가 제곱근 밖에 있습니다", ("(var + eps) ** -0.5", "1 / (var ** 0.5 + eps)")),
        Mistake("eps is not used", "eps를 쓰지 않았습니다", ("(var + eps)", "(var + 1e-5)")),
        Mistake("dw uses x, not the normalized h", "dw에 정규화된 h가 아니라 x를 썼습니다", ("(dy * h).reshape", "(dy * x).reshape")),
        Mistake("sums stand in dx where means belong", "dx에서 평균이어야 할 곳이 합입니다", ("g.mean(", "g.sum("), ("(g * h).mean(", "(g * h).sum(")),
        Mistake("the means go over the first axis, not the last", "평균을 마지막 축이 아니라 첫 번째 축으로 냈습니다", ("mean(-1", "mean(0")),
        Mistake("dw is made with g, so that it has w in it", "dw를 g로 만들어 w가 한 번 더 곱해졌습니다", ("(dy * h).reshape", "(g * h).reshape")),
        Mistake("db is made with g, so that it has w in it", "db를 g로 만들어 w가 곱해졌습니다", ("db = dy.", "db = g.")),
    ),
    trial=lambda program: used(lambda dy, x, w, b, eps=1e-5, **rest: program.layer_norm_backward(dy, x, w, b, eps), "layer_norm_backward"),
)  # fmt: skip
