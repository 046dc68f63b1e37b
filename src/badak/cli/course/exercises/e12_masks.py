"""Masks: the future and padding."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import trained
from badak.nn.mask import Mask
from badak.tensor import tensor


def own(ids, pad):
    T = ids.shape[1]
    return (Mask.causal() & Mask.padding(ids, pad)).keep(T, T).expand(ids.shape[0], 1, T, T)


EXERCISE = Exercise(
    function="visible",
    title=Both("Masks: the future and padding", "마스크: 미래와 패딩"),
    text=Both(
        """
Which key may a query see in a causal model? None that comes after it, and no padding.

ids (B, T) of integers; pad: the id of padding. Return keep (B, 1, T, T) of bool: keep[b, 0, i, j]
is True where query i may see key j: j <= i, and ids[b, j] is not pad. The axis of size 1
is for the heads. Rows of queries that are padding follow the same rule.
""",
        """
인과 모델에서 쿼리는 어떤 키를 볼 수 있습니까? 자기보다 뒤에 오는 키와 패딩은 볼 수 없습니다.

정수 ids (B, T), pad: 패딩의 ID. bool 텐서 keep (B, 1, T, T)를 반환하세요. 쿼리 i가 키 j를 볼 수
있을 때, 곧 j <= i이고 ids[b, j]가 pad가 아닐 때 keep[b, 0, i, j]가 True입니다. 크기 1인 축은
헤드의 자리입니다. 패딩인 쿼리의 행도 같은 규칙을 따릅니다.
""",
    ),
    solution='''\
def visible(ids, pad):
    B, T = ids.shape
    place = badak.arange(T)
    causal = place[:, None] >= place[None, :]
    real = ids != pad
    return causal[None, None] & real[:, None, None, :]
''',
    derivation=Both(
        "Rows are queries, columns are keys. Causality depends on both, i >= j: (T, T). Padding depends on the key alone: (B, 1, 1, T), the\n"
        "same for every query. & broadcasts both to (B, 1, T, T). A mask (B, T) without new axes would be read as (queries, keys).",
        "행은 쿼리, 열은 키입니다. 인과성은 둘 다에 의존하므로 i >= j는 (T, T)입니다. 패딩은 키에만 의존하므로 모든 쿼리에서 같은\n"
        "(B, 1, 1, T)입니다. &가 둘을 (B, 1, T, T)로 브로드캐스트합니다. 새 축이 없는 (B, T)는 (쿼리, 키)로 읽힙니다.",
    ),
    hints=(
        Both("Two masks and one &: causal (T, T), padding (B, 1, 1, T).", "마스크 둘과 & 하나입니다: 인과 (T, T), 패딩 (B, 1, 1, T)."),
        Both("place[:, None] >= place[None, :] compares each query with each key.", "place[:, None] >= place[None, :]는 쿼리와 키를 모두 비교합니다."),
        Both("(ids != pad)[:, None, None, :] puts padding on the axis of keys.", "(ids != pad)[:, None, None, :]가 패딩을 키의 축에 놓습니다."),
    ),
    cases=lambda: [
        Case(Both("no padding, T=3", "패딩 없음, T=3"), (tensor([[4, 5, 6]]), 0)),
        Case(Both("padding on the right", "오른쪽 패딩"), (tensor([[4, 5, 6, 7], [4, 5, 0, 0]]), 0)),
        Case(Both("padding on the left", "왼쪽 패딩"), (tensor([[0, 0, 6, 7], [9, 5, 3, 8]]), 0)),
        Case("B == T", (tensor([[4, 5, 1], [4, 1, 1], [2, 2, 2]]), 1)),
        Case(Both("pad=7, id 0 is a word", "pad=7, ID 0은 단어"), (tensor([[0, 3, 7, 7, 7], [0, 0, 5, 6, 7]]), 7)),
    ],
    oracle=own,
    mistakes=(
        Mistake("the mask is the wrong way round: True hides", "마스크가 반대입니다: True가 가림을 뜻합니다", ("return causal[None, None] & real[:, None, None, :]", "return ~(causal[None, None] & real[:, None, None, :])")),
        Mistake("each query sees the future, not the past", "쿼리가 과거가 아니라 미래를 봅니다", ("place[:, None] >= place[None, :]", "place[:, None] <= place[None, :]")),
        Mistake("a query does not see itself", "쿼리가 자기 자신을 보지 못합니다", (">=", ">")),
        Mistake("padding is on the axis of queries, not of keys", "패딩이 키가 아니라 쿼리의 축에 있습니다", ("real[:, None, None, :]", "real[:, None, :, None]")),
        Mistake("padding is hidden on both axes: rows of padding see nothing", "패딩을 두 축에서 모두 가려 패딩 행이 아무것도 보지 못합니다",
                ("real[:, None, None, :]", "real[:, None, None, :] & real[:, None, :, None]")),
        Mistake("the future is not hidden", "미래를 가리지 않았습니다", ("causal[None, None] & real[:, None, None, :]", "real[:, None, None, :].expand(B, 1, T, T)")),
        Mistake("padding is not hidden", "패딩을 가리지 않았습니다", ("causal[None, None] & real[:, None, None, :]", "causal[None, None].expand(B, 1, T, T)")),
        Mistake("only padding is seen: == and != are swapped", "패딩만 봅니다: ==와 !=가 바뀌었습니다", ("ids != pad", "ids == pad")),
        Mistake("| joins the masks, where & must", "마스크를 &가 아니라 |로 묶었습니다", ("causal[None, None] & real", "causal[None, None] | real")),
        Mistake("the axis of heads is missing", "헤드의 축이 없습니다", ("causal[None, None] & real[:, None, None, :]", "causal[None] & real[:, None, :]")),
        Mistake("pad is taken as 0, whatever it is", "pad가 무엇이든 0으로 보았습니다", ("ids != pad", "ids != 0")),
        Mistake("the mask is of integers, not of bool", "마스크가 bool이 아니라 정수입니다", ("real[:, None, None, :]", "real[:, None, None, :].long()")),
        Mistake("the mask holds 0 and -inf, to be added, not True and False", "True와 False가 아니라 더하기 위한 0과 -inf입니다",
                ("return causal[None, None] & real[:, None, None, :]", "return badak.zeros(B, 1, T, T).masked_fill(~(causal[None, None] & real[:, None, None, :]), -math.inf)")),
    ),
    trial=lambda program: trained({"mask": lambda ids: program.visible(ids, 0)}),
)  # fmt: skip
