"""Find what is wrong: an encoder that does not learn."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.judge import audited, filled
from badak.tensor import randint
from badak.tensor.generator import Generator


def inputs(program, T, S):
    """The model, source and target."""
    draw = Generator().manual_seed(T + S)
    source, target = randint(1, 9, (2, S), generator=draw), randint(1, 9, (2, T), generator=draw)
    return filled(program.Translator(9, 8)).eval(), source, target


def judged(program, T, S):
    """What the audit finds."""
    model, source, target = inputs(program, T, S)
    return audited(model, (source, target), kind="encoder-decoder")


def call(program, T, S):
    """The logits."""
    model, source, target = inputs(program, T, S)
    return model(source, target).detach()


SOLUTION = """\
class Translator(nn.Module):
    def __init__(self, vocab_size, channels):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, channels)
        self.position = nn.Embedding(16, channels)
        self.encoder = nn.TransformerEncoderLayer(channels, 2, 16, dropout=0.0, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(channels, 2, 16, dropout=0.0, batch_first=True)
        self.head = nn.Linear(channels, vocab_size)

    def embed(self, ids):
        return self.embedding(ids) + self.position(badak.arange(ids.shape[1]))

    def forward(self, source, target):
        memory = self.encoder(self.embed(source))
        T = target.shape[1]
        hide = badak.ones(T, T, dtype=badak.bool).triu(1)
        out = self.decoder(self.embed(target), memory, tgt_mask=hide)
        return self.head(out)
"""

EXERCISE = Exercise(
    function="Translator",
    title=Both("What is wrong? An encoder that does not learn", "무엇이 틀렸을까요? 학습되지 않는 인코더"),
    text=Both(
        """
The loss of this translator falls slowly and stops high; the encoder does not seem to matter.
No error is raised. Repair it; keep the names.

badak audit judges it: each parameter must get a gradient, and the decoder must not see the
future of its target.
""",
        """
이 번역 모델의 손실은 천천히 줄다가 높은 곳에서 멈춥니다. 인코더가 아무 구실도 하지 않는 듯합니다.
오류는 나지 않습니다. 고치세요. 이름은 그대로 두세요.

badak audit이 판정합니다: 모든 파라미터가 기울기를 받아야 하고, 디코더는 target의 미래를 보지 않아야 합니다.
""",
    ),
    solution=SOLUTION,
    start=SOLUTION.replace("self.embed(target), memory,", "self.embed(target), memory.detach(),"),
    derivation=Both(
        "detach() gives a tensor with the same numbers and no history. The decoder's gradient with respect to memory ends there, so the encoder's\n"
        "weights keep their initial values: the decoder learns to read noise.",
        "detach()는 수는 같고 이력이 없는 텐서를 줍니다. memory에 대한 디코더의 기울기가 거기서 끝나므로 인코더의 가중치는 초기값에\n"
        "머뭅니다. 디코더는 잡음을 읽는 법을 배우게 됩니다.",
    ),
    hints=(
        Both("After loss.backward(), which parameters have .grad None?", "loss.backward() 뒤에 .grad가 None인 파라미터는 무엇입니까?"),
        Both("Follow memory from the encoder to the decoder: what is done to it on the way?", "memory를 인코더에서 디코더까지 따라가 보세요. 도중에 무엇을 합니까?"),
        Both("detach() cuts the graph.", "detach()가 그래프를 끊습니다."),
    ),
    cases=lambda: [Case("badak audit", (4, 4), judged), *[Case(f"T={T}, S={S}", (T, S), call) for T, S in ((4, 4), (3, 5), (6, 2))]],
    mistakes=(
        Mistake("memory is cut off from the encoder, by detach or no_grad: the encoder gets no gradient", "detach나 no_grad가 memory를 인코더에서 끊어 인코더가 기울기를 받지 못합니다", ("self.embed(target), memory,", "self.embed(target), memory.detach(),")),
        Mistake("the decoder looks at the embedding of the source, not at the encoder's output", "디코더가 인코더의 출력이 아니라 source의 임베딩을 봅니다", ("self.encoder(self.embed(source))", "self.embed(source)")),
        Mistake("the decoder looks at its own target in the place of memory", "디코더가 memory 대신 자신의 target을 봅니다", ("self.embed(target), memory,", "self.embed(target), self.embed(target),")),
        Mistake("the mask of the decoder is gone: it sees the future", "디코더의 마스크가 없어져 미래를 봅니다", (", tgt_mask=hide", "")),
        Mistake("the mask hides a token from itself, too", "마스크가 자기 자신까지 가립니다", ("triu(1)", "triu()")),
        Mistake("the mask hides the past, not the future", "마스크가 미래가 아니라 과거를 가립니다", ("triu(1)", "tril(-1)")),
        Mistake("source and target are swapped", "source와 target이 바뀌었습니다", ("self.encoder(self.embed(source))", "self.encoder(self.embed(target))"), ("T = target.shape[1]", "T = source.shape[1]"), ("self.decoder(self.embed(target)", "self.decoder(self.embed(source)")),
        Mistake("the embedding is detached", "임베딩을 detach했습니다", ("return self.embedding(ids) +", "return self.embedding(ids).detach() +")),
    ),
)  # fmt: skip
