"""A key-value cache."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw
from badak.tensor import cat


def call(program, q, k, v, chunks):
    """The outputs of all chunks behind each other, through one cache; then the first chunk again, through a new one."""
    outs = []
    for sizes in (chunks, chunks[:1]):
        cache, at = program.Cache(), 0
        for n in sizes:
            outs.append(cache.attend(q[:, :, at : at + n], k[:, :, at : at + n], v[:, :, at : at + n]))
            at += n
    return cat(outs, 2)


def cases() -> list[Case]:
    rows = [
        (1, 1, 3, 2, [1, 1, 1]),
        (1, 2, 4, 4, [4]),
        (2, 2, 5, 4, [3, 1, 1]),
        (2, 1, 6, 4, [2, 3, 1]),
        (1, 2, 8, 2, [1, 2, 3, 2]),
    ]
    return [Case(Both(f"B={B}, H={H}, D={D}, tokens in chunks of {chunks}", f"B={B}, H={H}, D={D}, 토큰을 {chunks}개씩"), (draw(B, H, T, D), draw(B, H, T, D, seed=1), draw(B, H, T, D, seed=2), chunks), call)
            for B, H, T, D, chunks in rows]  # fmt: skip


EXERCISE = Exercise(
    function="Cache",
    title=Both("A key-value cache", "키-밸류 캐시"),
    text=Both(
        """
While a model writes, the keys and values of earlier tokens do not change: keep them.

Write class Cache with __init__(self) and attend(self, q, k, v). q, k, v (B, H, n, D) belong to
the n tokens that are new: one at a time while writing, several for the prompt. attend keeps k
and v behind those of the calls before, and returns (B, H, n, D): causal attention of the new
queries to all keys so far. A new token sees itself and everything before it, and not the new
tokens after it. The outputs are those of one call on the whole text.
""",
        """
모델이 텍스트를 쓰는 동안 앞선 토큰의 키와 밸류는 변하지 않습니다. 저장해 두세요.

__init__(self)와 attend(self, q, k, v)가 있는 class Cache를 쓰세요. q, k, v (B, H, n, D)는 새 토큰
n개의 것입니다. 쓰는 동안에는 하나씩, 프롬프트는 여러 개입니다. attend는 k와 v를 앞선 호출의 것 뒤에
저장하고, 지금까지의 모든 키에 대한 새 쿼리의 인과 어텐션 (B, H, n, D)을 반환합니다. 새 토큰은 자신과
그 앞의 모든 것을 보고, 뒤에 오는 새 토큰은 보지 않습니다. 결과는 전체 텍스트를 한 번에 계산한 것과 같습니다.
""",
    ),
    solution='''\
class Cache:
    def __init__(self):
        self.k = self.v = None

    def attend(self, q, k, v):
        self.k = k if self.k is None else badak.cat([self.k, k], dim=2)
        self.v = v if self.v is None else badak.cat([self.v, v], dim=2)
        n, S = q.shape[2], self.k.shape[2]
        place = badak.arange(S - n, S)
        keep = place[:, None] >= badak.arange(S)[None, :]
        return F.scaled_dot_product_attention(q, self.k, self.v, keep)
''',
    derivation=Both(
        "In causal attention row t uses k and v of 0 .. t only, which later tokens do not change. So the work for one token is S D, not S^2 D.\n"
        "Query i of n new ones stands at S - n + i: a triangle from the upper left corner would hide the cache from it.",
        "인과 어텐션에서 행 t는 0 .. t의 k와 v만 쓰고, 뒤의 토큰은 이를 바꾸지 않습니다. 그래서 토큰 하나의 계산은 S^2 D가 아니라 S D입니다.\n"
        "새 쿼리 n개 중 i번째의 위치는 S - n + i입니다. 왼쪽 위 모서리에서 시작하는 삼각형은 캐시를 가리게 됩니다.",
    ),
    hints=(
        Both("Two attributes, None at first; badak.cat along the axis of tokens, 2.", "속성 둘을 None으로 시작하고, 토큰의 축 2를 따라 badak.cat으로 잇습니다."),
        Both("Where do the n new queries stand among S keys? At S - n .. S - 1.", "새 쿼리 n개는 키 S개 중 어디에 있습니까? S - n .. S - 1입니다."),
        Both("keep = place[:, None] >= badak.arange(S); is_causal=True would count from the first key.", "keep = place[:, None] >= badak.arange(S). is_causal=True는 첫 키부터 셉니다."),
    ),
    cases=cases,
    mistakes=(
        Mistake("the mask starts at the first key: new queries do not see the cache (is_causal counts from the upper left)", "마스크가 첫 키에서 시작해 새 쿼리가 캐시를 보지 못합니다(is_causal은 왼쪽 위부터 셉니다)",
                ("badak.arange(S - n, S)", "badak.arange(n)")),
        Mistake("there is no mask: tokens of a prompt see those after them", "마스크가 없어 프롬프트의 토큰이 뒤의 토큰을 봅니다", (", self.v, keep)", ", self.v)")),
        Mistake("nothing is kept: each call sees its own tokens only", "아무것도 저장하지 않아 호출마다 자기 토큰만 봅니다", ("k if self.k is None else badak.cat([self.k, k], dim=2)", "k"), ("v if self.v is None else badak.cat([self.v, v], dim=2)", "v")),
        Mistake("keys and values go along the axis of heads", "키와 밸류를 헤드의 축으로 이었습니다", ("dim=2", "dim=1")),
        Mistake("new keys and values are put before the old ones", "새 키와 밸류를 앞에 붙였습니다", ("[self.k, k]", "[k, self.k]"), ("[self.v, v]", "[v, self.v]")),
        Mistake("only the values are out of order: new ones are put before the old", "밸류의 순서만 틀렸습니다: 새 것을 앞에 붙였습니다", ("[self.v, v]", "[v, self.v]")),
        Mistake("a token does not see itself", "토큰이 자기 자신을 보지 못합니다", (">=", ">")),
        Mistake("the mask is the wrong way round", "마스크가 반대입니다", (">=", "<")),
        Mistake("the mask is shifted by one: each token sees the next", "마스크가 하나 밀려 각 토큰이 다음 토큰을 봅니다", ("badak.arange(S - n, S)", "badak.arange(S - n + 1, S + 1)")),
        Mistake("the last key is dropped from the cache", "캐시에서 마지막 키가 빠집니다", ("badak.cat([self.k, k], dim=2)", "badak.cat([self.k[:, :, :-1], self.k[:, :, :1], k], dim=2)")),
        Mistake("only the keys are kept, and each value is repeated", "키만 저장했습니다",
                ("self.v = v if self.v is None else badak.cat([self.v, v], dim=2)", "self.v = v[:, :, -1:].expand(v.shape[0], v.shape[1], self.k.shape[2], v.shape[3])")),
        Mistake("the cache is shared by all objects: it is an attribute of the class", "캐시가 클래스의 속성이라 모든 객체가 공유합니다",
                ("    def __init__(self):\n        self.k = self.v = None\n", "    k = v = None\n"), ("self.k = k", "Cache.k = k"), ("self.v = v", "Cache.v = v")),
        Mistake("the queries are kept in the place of the keys", "키 대신 쿼리를 저장했습니다", ("self.k = k if self.k is None else badak.cat([self.k, k], dim=2)", "self.k = q if self.k is None else badak.cat([self.k, q], dim=2)")),
        Mistake("keys are kept where values belong", "밸류 자리에 키를 저장했습니다", ("self.v = v if self.v is None else badak.cat([self.v, v], dim=2)", "self.v = k if self.v is None else badak.cat([self.v, k], dim=2)")),
        Mistake("only the keys are kept, not the values", "키만 저장하고 밸류는 저장하지 않았습니다", ("self.v = v if self.v is None else badak.cat([self.v, v], dim=2)", "self.v = v")),
    ),
)  # fmt: skip
