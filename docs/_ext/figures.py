# ruff: noqa: E501  (captions in two languages stand beside each other)
"""The numbers of the guide's interactive figures, each computed by badak's reference kernels when the site is built.

A figure is a dict that JSON can hold. `kind` names what docs/_static/figures.js draws: `points`, `paint` and `temperature` are
recomputed in the browser by a formula of three lines, which a test compares with badak; `states` are recorded.
"""

import math
from collections.abc import Callable
from typing import Any

import badak
from badak import nn
from badak.nn import functional as F

Figure = dict[str, Any]


def rounded(x: Any) -> Any:
    """Numbers with four digits behind the point."""
    return [rounded(part) for part in x] if isinstance(x, list) else round(float(x), 4)


def numbers(x: badak.Tensor) -> Any:
    return rounded(x.detach().tolist())


def state(label: str, **parts: Any) -> Figure:
    return {"label": label, **parts}


def attention(ko: bool) -> Figure:
    words = ["고양이가", "우유를", "마셨다", "어제"] if ko else ["cat", "milk", "drank", "yesterday"]
    return {
        "kind": "points",
        "words": words,
        "points": [[1.4, 0.9], [1.2, -0.9], [1.9, 0.2], [-1.5, 0.6]],
        "scale": 1 / math.sqrt(2),
    }


def clocks(count: int, width: int) -> badak.Tensor:
    """Sinusoids, (count, width)."""
    turns = badak.arange(count)[:, None] * 10000.0 ** (-badak.arange(0, width, 2) / width)
    return badak.stack([turns.sin(), turns.cos()], -1).flatten(1)


def positions(ko: bool) -> Figure:
    p = clocks(32, 32)
    alike = p @ p.T / 16
    word = "위치" if ko else "position"
    return {"kind": "states", "states": [state(f"{word} {i}", bars=numbers(alike[i]), low=0, high=1) for i in range(32)], "at": 12}


def heads(ko: bool) -> Figure:
    p, names, states = clocks(16, 32), [str(i) for i in range(8)], []
    for step in range(-3, 4):
        weights = F.softmax(p[4 + step : 12 + step] @ p[4:12].T * 1.5, -1)
        label = f"a head that looks {abs(step)} {'back' if step < 0 else 'ahead'}" if step else "a head that looks at its own place"
        if ko:
            label = f"{abs(step)}칸 {'앞' if step < 0 else '뒤'}을 보는 헤드" if step else "제자리를 보는 헤드"
        states.append(state(label, table=numbers(weights), rows=names, columns=names))
    return {"kind": "states", "states": states, "at": 2}


def masks(ko: bool) -> Figure:
    words = ["어제", "고양이가", "우유를", "다", "마셨다"] if ko else ["the", "cat", "drank", "its", "milk"]
    scores = badak.randn(5, 5, generator=badak.Generator().manual_seed(4))
    return {"kind": "paint", "words": words, "scores": numbers(scores)}


def block(ko: bool) -> Figure:
    """A pre-norm block forward, then its backward from the last operation to the first."""
    badak.manual_seed(5)
    norm, inner, outer = nn.LayerNorm(6), nn.Linear(6, 12), nn.Linear(12, 6)
    x = badak.randn(4, 6, requires_grad=True)
    q = norm(x)
    scores = q @ q.mT / math.sqrt(6)
    weights = F.softmax(scores, -1)
    mixed = weights @ q
    middle = x + mixed
    normed = norm(middle)
    hidden = F.gelu(inner(normed))
    out = middle + outer(hidden)
    loss = (out**2).mean()
    steps = [
        ("x", x), ("q = norm(x)", q), ("s = q qᵀ / √d", scores), ("w = softmax(s)", weights), ("a = w q", mixed), ("m = x + a", middle),
        ("n = norm(m)", normed), ("h = gelu(n W₁ᵀ + b₁)", hidden), ("y = m + h W₂ᵀ + b₂", out),
    ]  # fmt: skip
    slopes = badak.autograd.grad(loss, [value for _, value in steps])
    forward, backward = ("순전파", "역전파") if ko else ("forward", "backward")
    states = [state(f"{forward} {i}/9: {name}", table=numbers(value), signed=True) for i, (name, value) in enumerate(steps, 1)]
    for i, ((name, _), slope) in enumerate(zip(reversed(steps), reversed(slopes)), 1):
        states.append(state(f"{backward} {i}/9: ∂L/∂{name[0]}", table=numbers(slope), signed=True))
    return {"kind": "states", "states": states, "at": 0}


def decoder(ko: bool) -> Figure:
    words = ["<시작>", "이", "백", "십", "칠"] if ko else ["<start>", "two", "hundred", "and", "seven"]
    source = badak.randn(5, 16, generator=badak.Generator().manual_seed(6))
    states = []
    for t in range(1, 6):
        scores = source[:t] @ source[:t].T / 4
        weights = F.softmax(scores.masked_fill(badak.arange(t)[:, None] < badak.arange(t), -math.inf), -1)
        table = [[*row, *[0.0] * (5 - t)] for row in numbers(weights)] + [[0.0] * 5] * (5 - t)
        label = f"{t}단계: {t}행만 새로 계산" if ko else f"step {t}: only row {t} is new"
        states.append(state(label, table=table, rows=words, columns=words))
    return {"kind": "states", "states": states, "at": 2}


def mean_or_cls(ko: bool) -> Figure:
    states = []
    for n in (1, 2, 4, 8, 16, 32, 64, 128):
        marked = (badak.arange(n) == 0).float()
        bars = numbers(badak.stack([marked.mean(), F.softmax(4 * marked, -1)[0]]))
        names = ["평균", "CLS, 점수 4"] if ko else ["mean", "CLS, score 4"]
        states.append(state(f"단어 {n}개" if ko else f"{n} words" if n > 1 else "1 word", bars=bars, names=names, low=0, high=1))
    return {"kind": "states", "states": states, "at": 4}


def training(ko: bool) -> Figure:
    generator = badak.Generator().manual_seed(8)
    x = badak.randn(64, 4, generator=generator)
    y = (x * badak.tensor([1.0, -2.0, 0.5, 3.0])).sum(-1, keepdim=True).tanh()
    states = []
    for rate in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0):
        badak.manual_seed(8)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer, losses = badak.optim.SGD(model.parameters(), lr=rate), []
        for _ in range(60):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            if not loss.item() < 1e6:
                break  # it ran away: the curve ends here
            losses.append(loss.item())
            loss.backward()
            optimizer.step()
        states.append(state(f"{'학습률' if ko else 'learning rate'} {rate:g}", line=rounded(losses), low=0, high=1.5))
    return {"kind": "states", "states": states, "at": 3}


def temperature(ko: bool) -> Figure:
    words = ["우유", "물", "차", "빵", "돌", "하늘"] if ko else ["milk", "water", "tea", "bread", "stone", "sky"]
    return {"kind": "temperature", "words": words, "logits": [3.2, 2.6, 1.9, 0.4, -1.0, -1.6]}


def depth(ko: bool) -> Figure:
    """Size of the gradient at each of 8 layers, with and without the residual."""
    states = []
    for scale in (0.25, 0.5, 1.0, 1.5, 2.0):
        rows = []
        for residual in (False, True):
            generator = badak.Generator().manual_seed(10)
            h = badak.randn(8, 16, generator=generator).requires_grad_()
            seen = []
            for _ in range(8):
                seen.append(h)
                step = (h @ (scale / 4 * badak.randn(16, 16, generator=generator))).tanh()
                h = h + step if residual else step
            slopes = badak.autograd.grad(h.sum(), seen)
            rows.append([float(slope.norm().log10()) for slope in slopes])
        names = ["잔차 없음", "잔차 있음"] if ko else ["no residual", "residual"]
        label = f"가중치 크기 {scale:g}" if ko else f"weights of size {scale:g}"
        states.append(state(label, table=rounded(rows), rows=names, columns=[str(i) for i in range(1, 9)], signed=True))
    return {"kind": "states", "states": states, "at": 1}


FIGURES: dict[str, tuple[Callable[[bool], Figure], str, str]] = {  # of each chapter: numbers, caption, caption in Korean
    "01": (attention, "Drag a word. Words whose lines point the same way look at each other.", "단어를 끌어 보세요. 선이 같은 쪽을 가리키는 단어끼리 서로 봅니다."),
    "02": (positions, "Move the slider. The bars show how alike a position is to each of the 32.", "슬라이더를 움직여 보세요. 막대는 그 위치가 32개 위치와 저마다 얼마나 닮았는지 나타냅니다."),
    "03": (heads, "Each head looks from its row a fixed number of places away.", "헤드마다 자기 행에서 정해진 칸만큼 떨어진 곳을 봅니다."),
    "04": (masks, "Paint the mask: click or drag over squares. A hidden key gets the weight 0; a row that still sees a key sums to 1.", "마스크를 칠해 보세요. 칸을 누르거나 끌면 됩니다. 가린 키의 가중치는 0이고, 키가 하나라도 남은 행의 합은 1입니다."),
    "05": (block, "Play a block forward, then its backward one operation at a time. Rows are words; blue is positive, orange negative.", "블록의 순전파를 재생한 뒤 역전파를 연산 하나씩 따라가 보세요. 행은 단어이고 파랑은 양수, 주황은 음수입니다."),
    "06": (decoder, "The decoder writes one word at a time. The rows above stay as they are: a cache keeps them.", "디코더는 한 번에 한 단어를 씁니다. 위의 행은 그대로이므로 캐시에 두면 됩니다."),
    "07": (mean_or_cls, "One word of the text matters. The bars show its share in the answer as the text grows.", "글에서 단어 하나만 중요합니다. 막대는 글이 길어질 때 그 단어가 답에서 차지하는 몫입니다."),
    "08": (training, "The loss over 60 steps of SGD at different learning rates.", "학습률을 바꾸었을 때 SGD 60 스텝 동안의 손실입니다."),
    "09": (temperature, "Below 1 the temperature sharpens the choice, above 1 it evens it out.", "온도가 1보다 낮으면 선택이 뚜렷해지고, 높으면 고르게 됩니다."),
    "10": (depth, "log₁₀ of the gradient's norm at layers 1 to 8. Blue is larger than 1, orange smaller.", "층 1~8에서 기울기 노름의 log₁₀입니다. 파랑은 1보다 크고 주황은 작습니다."),
}  # fmt: skip


def figure(chapter: str, language: str) -> Figure:
    """The figure of a chapter ("01" to "10"): its numbers and its caption."""
    make, en, ko = FIGURES[chapter]
    with badak.kernels.use("reference"):
        return {**make(language == "ko"), "caption": ko if language == "ko" else en}
