"""The backward of attention, by hand."""

from badak.autograd.differentiate import grad
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, used
from badak.nn import functional as F


def own(dout, q, k, v):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    return grad(F.scaled_dot_product_attention(q, k, v), (q, k, v), dout)


def cases() -> list[Case]:
    rows = []
    for shape, keys, width in [((1, 4), 1, 4), ((3, 4), 3, 4), ((2, 3, 4), 5, 4), ((2, 2, 3, 4), 3, 6), ((2, 4, 4), 4, 4)]:
        q, k, v = draw(*shape), draw(*shape[:-2], keys, shape[-1], seed=1), draw(*shape[:-2], keys, width, seed=2)
        rows.append(Case(f"q {shape}, S = {keys}, E = {width}", (draw(*shape[:-1], width, seed=3), q, k, v)))
    return rows


def trial(program):
    return used(program.attention_backward, "attention_backward",
                {"attend": lambda q, k, v, keep: F.scaled_dot_product_attention(q, k, v)})  # fmt: skip


EXERCISE = Exercise(
    title=Both("Backward of attention by hand", "어텐션의 역전파를 손으로"),
    text=Both(
        """
s = q k^T / sqrt(D),  p = softmax(s) over the keys,  out = p v.

Given dout (..., T, E), return (dq, dk, dv), each in the shape of q (..., T, D),
k (..., S, D), v (..., S, E). Go back from out to p, from p to s, from s to q and k.
Compute p again from q and k. No autograd, no loop over T.
""",
        """
s = q k^T / sqrt(D),  p = 키 방향의 softmax(s),  out = p v입니다.

dout (..., T, E)이 주어지면 (dq, dk, dv)를 반환하세요. 형상은 각각 q (..., T, D),
k (..., S, D), v (..., S, E)와 같습니다. out에서 p로, p에서 s로, s에서 q와 k로 거슬러 가세요.
p는 q와 k로 다시 계산합니다. autograd나 T에 대한 반복문은 쓰지 마세요.
""",
    ),
    solution='''\
def attention_backward(dout, q, k, v):
    scale = 1 / math.sqrt(q.shape[-1])
    p = F.softmax(q @ k.transpose(-2, -1) * scale, dim=-1)
    dv = p.transpose(-2, -1) @ dout
    dp = dout @ v.transpose(-2, -1)
    ds = p * (dp - (p * dp).sum(-1, keepdim=True))
    dq = ds @ k * scale
    dk = ds.transpose(-2, -1) @ q * scale
    return dq, dk, dv
''',
    derivation=Both(
        "out = p v is a matrix product: dv = p^T dout, dp = dout v^T. For one row of softmax dp_j/ds_i = p_j ([i = j] - p_i), so\n"
        "ds_i = sum_j dp_j p_j ([i = j] - p_i) = p_i (dp_i - sum_j p_j dp_j). s = scale q k^T is a product again:\n"
        "dq = scale ds k, dk = scale ds^T q.",
        "out = p v는 행렬 곱이므로 dv = p^T dout, dp = dout v^T입니다. softmax의 한 행에서 dp_j/ds_i = p_j ([i = j] - p_i)이므로\n"
        "ds_i = sum_j dp_j p_j ([i = j] - p_i) = p_i (dp_i - sum_j p_j dp_j)입니다. s = scale q k^T도 행렬 곱이므로\n"
        "dq = scale ds k, dk = scale ds^T q입니다.",
    ),
    hints=(
        Both("Two of the three steps are matrix products: use what exercise 02 gave.", "세 단계 중 둘은 행렬 곱입니다. 02번 연습의 결과를 쓰세요."),
        Both("Softmax: ds = p (dp - the sum of p dp over the keys).", "softmax: ds = p (dp - 키 방향의 p dp의 합)."),
        Both("The scale stands in dq and in dk, once each, and not in dv.", "스케일은 dq와 dk에 한 번씩 들어가고 dv에는 없습니다."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("dq and dk lack the scale 1 / sqrt(D)", "dq와 dk에 스케일 1 / sqrt(D)가 없습니다", ("ds @ k * scale", "ds @ k"), ("@ q * scale", "@ q")),
        Mistake("dk lacks the scale 1 / sqrt(D)", "dk에 스케일 1 / sqrt(D)가 없습니다", ("@ q * scale", "@ q")),
        Mistake("dq lacks the scale 1 / sqrt(D)", "dq에 스케일 1 / sqrt(D)가 없습니다", ("ds @ k * scale", "ds @ k")),
        Mistake("the scale is 1 / D, not 1 / sqrt(D)", "스케일이 1 / sqrt(D)가 아니라 1 / D입니다", ("math.sqrt(q.shape[-1])", "q.shape[-1]")),
        Mistake("there is no scale at all", "스케일이 전혀 없습니다", ("1 / math.sqrt(q.shape[-1])", "1.0")),
        Mistake("the softmax backward has only the diagonal: the sum of p dp is not subtracted", "softmax 역전파에 대각 성분만 있습니다: p dp의 합을 빼지 않았습니다",
                ("(dp - (p * dp).sum(-1, keepdim=True))", "dp")),
        Mistake("the softmax backward treats each weight alone: p (1 - p)", "softmax 역전파를 각 가중치마다 p (1 - p)로 계산했습니다",
                ("p * (dp - (p * dp).sum(-1, keepdim=True))", "p * (1 - p) * dp")),
        Mistake("the softmax backward subtracts the sum of dp, not of p dp", "softmax 역전파에서 p dp가 아니라 dp의 합을 뺐습니다", ("(p * dp).sum", "dp.sum")),
        Mistake("the sum of p dp goes over the queries", "p dp의 합을 쿼리 방향으로 냈습니다", (".sum(-1, keepdim", ".sum(-2, keepdim")),
        Mistake("softmax goes over the queries", "softmax를 쿼리 방향으로 했습니다", ("dim=-1", "dim=-2")),
        Mistake("the softmax backward is missing: ds = dp", "softmax 역전파가 없습니다: ds = dp", ("p * (dp - (p * dp).sum(-1, keepdim=True))", "dp")),
        Mistake("dq and dk are swapped", "dq와 dk의 순서가 바뀌었습니다", ("return dq, dk, dv", "return dk, dq, dv")),
        Mistake("ds lacks the factor p", "ds에 p가 곱해지지 않았습니다", ("p * (dp - ", "(dp - ")),
        Mistake("the sign of ds is wrong", "ds의 부호가 반대입니다", ("(dp - (p", "-(dp - (p")),
        Mistake("the sum of p dp is added, not subtracted", "p dp의 합을 빼지 않고 더했습니다", ("(dp - (p", "(dp + (p")),
        Mistake("dv is made with p, which is not transposed", "dv에서 p를 전치하지 않았습니다", ("p.transpose(-2, -1) @ dout", "p @ dout")),
        Mistake("dk is made with ds, which is not transposed", "dk에서 ds를 전치하지 않았습니다", ("ds.transpose(-2, -1) @ q", "ds @ q")),
        Mistake("p and ds are not transposed in dv and dk", "dv와 dk에서 p와 ds를 전치하지 않았습니다",
                ("p.transpose(-2, -1) @ dout", "p @ dout"), ("ds.transpose(-2, -1) @ q", "ds @ q")),
    ),
    trial=trial,
)  # fmt: skip
