"""Sinusoidal positions."""

from badak.cli.course.compare import array_of
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import trained
from badak.nn.position import sinusoids
from badak.tensor import tensor

EXERCISE = Exercise(
    title=Both("Positions as sines and cosines", "사인과 코사인으로 나타낸 위치"),
    text=Both(
        """
pe[t, 2i] = sin(t / 10000^(2i / C)),   pe[t, 2i + 1] = cos(t / 10000^(2i / C)).

sinusoids(length, channels) returns pe (length, channels) for t = 0 .. length - 1.
channels is even. A sine and the cosine next to it share one frequency.
""",
        """
pe[t, 2i] = sin(t / 10000^(2i / C)),   pe[t, 2i + 1] = cos(t / 10000^(2i / C))입니다.

sinusoids(length, channels)는 t = 0 .. length - 1에 대한 pe (length, channels)를 반환합니다.
channels는 짝수입니다. 사인과 그 옆의 코사인은 주파수가 같습니다.
""",
    ),
    solution='''\
def sinusoids(length, channels):
    t = badak.arange(length)[:, None]
    frequency = 10000.0 ** (-badak.arange(0, channels, 2) / channels)
    table = badak.zeros(length, channels)
    table[:, 0::2] = (t * frequency).sin()
    table[:, 1::2] = (t * frequency).cos()
    return table
''',
    derivation=Both(
        "With frequency f, sin(f (t + k)) and cos(f (t + k)) are a rotation of sin(f t) and cos(f t) by the angle f k: what attention needs to\n"
        "look k places back is one linear map for all t. Wavelengths go from 2 pi to 10000 2 pi.",
        "주파수 f에서 sin(f (t + k))와 cos(f (t + k))는 sin(f t)와 cos(f t)를 각 f k만큼 회전한 것입니다. 따라서 k자리 앞을 보는 일은\n"
        "모든 t에 대해 같은 선형 변환입니다. 파장은 2 pi에서 10000 2 pi까지입니다.",
    ),
    hints=(
        Both("Make t (length, 1) and the frequencies (C / 2,): their product is the table of angles.", "t (length, 1)와 주파수 (C / 2,)를 만드세요. 둘의 곱이 각도의 표입니다."),
        Both("badak.arange(0, channels, 2) is 2i.", "badak.arange(0, channels, 2)가 2i입니다."),
        Both("Write sines into table[:, 0::2] and cosines into table[:, 1::2].", "사인은 table[:, 0::2]에, 코사인은 table[:, 1::2]에 쓰세요."),
    ),
    cases=lambda: [Case(f"length={n}, channels={c}", (n, c)) for n, c in [(1, 2), (4, 6), (9, 4), (50, 16)]],
    oracle=lambda length, channels: sinusoids(length, channels).float().numpy(),
    mistakes=(
        Mistake("the sines fill the first half and the cosines the second, instead of taking turns", "사인과 코사인이 번갈아 나오지 않고 앞쪽 절반과 뒤쪽 절반을 채웁니다",
                ("[:, 0::2]", "[:, :channels // 2]"), ("[:, 1::2]", "[:, channels // 2:]")),
        Mistake("sine and cosine are swapped", "사인과 코사인이 바뀌었습니다", (".sin()", ".cosine()"), (".cos()", ".sin()"), (".cosine()", ".cos()")),
        Mistake("positions start at 1, not at 0", "위치가 0이 아니라 1에서 시작합니다", ("badak.arange(length)", "badak.arange(1, length + 1)")),
        Mistake("the exponent is i / C, not 2i / C", "지수가 2i / C가 아니라 i / C입니다", ("badak.arange(0, channels, 2)", "badak.arange(channels // 2)")),
        Mistake("the exponent is 4i / C, twice too much", "지수가 4i / C로 두 배입니다", ("/ channels)", "* 2 / channels)")),
        Mistake("the sign of the exponent is wrong: frequencies grow", "지수의 부호가 반대라 주파수가 커집니다", ("(-badak", "(badak")),
        Mistake("the base is 1000, not 10000", "밑이 10000이 아니라 1000입니다", ("10000.0", "1000.0")),
        Mistake("sine and cosine of a pair have different frequencies", "한 쌍의 사인과 코사인의 주파수가 다릅니다",
                ("(t * frequency).cos()", "(t * 10000.0 ** (-badak.arange(1, channels, 2) / channels)).cos()")),
        Mistake("the channels are not divided by C in the exponent", "지수에서 C로 나누지 않았습니다", (" / channels)", ")")),
        Mistake("only sines are used", "사인만 썼습니다", (".cos()", ".sin()")),
        Mistake("the table is transposed", "표가 전치되었습니다", ("return table", "return table.T")),
        Mistake("the angle is t times 10000 to the power, not divided: frequency and wavelength are mixed up", "t를 나누지 않고 곱했습니다: 주파수와 파장이 바뀌었습니다",
                ("(t * frequency)", "(t / frequency)")),
        Mistake("the frequency is e to the power, not 10000 to the power", "10000의 거듭제곱이 아니라 e의 거듭제곱입니다", ("10000.0 **", "math.e **")),
    ),
    trial=lambda program: trained({"positions": lambda length, channels: tensor(array_of(program.sinusoids(length, channels)))}),
)  # fmt: skip
