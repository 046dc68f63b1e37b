"""A learning rate schedule: linear warm-up, then a cosine."""

import math

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import RATE, STEPS, trained


def own(step, warmup, total, peak):
    if step <= warmup:
        return peak * step / warmup
    return 0.5 * peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))


def call(program, warmup, total, peak):
    return [float(program.rate(step, warmup, total, peak)) for step in range(1, total + 1)]


EXERCISE = Exercise(
    function="rate",
    title=Both("Warm-up and cosine decay", "워밍업과 코사인 감쇠"),
    text=Both(
        """
The learning rate of a step, for step = 1 .. total:

  it rises in a straight line, to peak at step = warmup: the first step has peak / warmup;
  then it falls along half a cosine, from peak at step = warmup to 0 at step = total.

1 <= warmup < total. Returns a float.
""",
        """
step = 1 .. total인 스텝의 학습률입니다.

  직선으로 올라 step = warmup에서 peak가 됩니다. 첫 스텝은 peak / warmup입니다.
  그 뒤 코사인 반 주기를 따라 step = warmup의 peak에서 step = total의 0까지 내려갑니다.

1 <= warmup < total입니다. float을 반환하세요.
""",
    ),
    solution='''\
def rate(step, warmup, total, peak):
    if step <= warmup:
        return peak * step / warmup
    share = (step - warmup) / (total - warmup)
    return peak * 0.5 * (1 + math.cos(math.pi * share))
''',
    derivation=Both(
        "share goes from 0 to 1, cos(pi share) from 1 to -1, and (1 + cos) / 2 from 1 to 0, flat at both ends. Adam's first steps rest on few\n"
        "gradients, so vhat is noisy: the warm-up keeps them small.",
        "share는 0에서 1로, cos(pi share)는 1에서 -1로, (1 + cos) / 2는 1에서 0으로 가며 양 끝에서 평평합니다. Adam의 첫 스텝들은 적은 수의\n"
        "기울기에 기대므로 vhat에 잡음이 많습니다. 워밍업은 그 스텝들을 작게 합니다.",
    ),
    hints=(
        Both("Two cases: step <= warmup, and behind it.", "두 경우입니다: step <= warmup, 그리고 그 뒤."),
        Both("How much of the way from warmup to total is done at this step? A number from 0 to 1.", "warmup에서 total까지 가는 길 중 얼마나 왔습니까? 0에서 1 사이의 수입니다."),
        Both("peak * 0.5 * (1 + math.cos(math.pi * share)).", "peak * 0.5 * (1 + math.cos(math.pi * share))."),
    ),
    cases=lambda: [Case(f"warmup={w}, total={t}, peak={p:g}", (w, t, p), call)
                   for w, t, p in [(1, 5, 1.0), (4, 10, 1.0), (3, 7, 0.01), (10, 100, 3e-4), (5, 6, 2.0)]],
    oracle=own,
    mistakes=(
        Mistake("the first step has the rate 0: steps are counted from 0", "첫 스텝의 학습률이 0입니다: 스텝을 0부터 셉니다", ("peak * step / warmup", "peak * (step - 1) / warmup")),
        Mistake("there is no warm-up", "워밍업이 없습니다", ("peak * step / warmup", "peak")),
        Mistake("the cosine is not shifted by warmup", "코사인을 warmup만큼 옮기지 않았습니다", ("(step - warmup) / (total - warmup)", "step / total")),
        Mistake("the cosine ends after total, as its length is not reduced by warmup", "코사인의 길이에서 warmup을 빼지 않아 total 뒤에 끝납니다", ("/ (total - warmup)", "/ total")),
        Mistake("a straight line in the place of the cosine", "코사인이 아니라 직선으로 내려갑니다", ("0.5 * (1 + math.cos(math.pi * share))", "(1 - share)")),
        Mistake("the cosine is not divided by 2: it begins at twice the peak", "2로 나누지 않아 peak의 두 배에서 시작합니다", ("0.5 * ", "")),
        Mistake("the cosine goes below 0: 1 + is missing", "1 +가 없어 0 아래로 내려갑니다", ("0.5 * (1 + math.cos(math.pi * share))", "math.cos(math.pi * share)")),
        Mistake("pi is missing in the cosine", "코사인에 pi가 없습니다", ("math.pi * share", "share")),
        Mistake("a quarter of the cosine is used, not half", "코사인의 반 주기가 아니라 1/4 주기입니다", ("0.5 * (1 + math.cos(math.pi * share))", "math.cos(math.pi / 2 * share)")),
        Mistake("a whole period is used: the rate rises again at the end", "한 주기를 다 써서 끝에서 다시 올라갑니다", ("math.pi * share", "2 * math.pi * share")),
        Mistake("the rate rises after the warm-up: the sign of the cosine is wrong", "코사인의 부호가 반대라 워밍업 뒤에 올라갑니다", ("1 + math.cos", "1 - math.cos")),
        Mistake("after the warm-up the rate stays at peak", "워밍업 뒤에 학습률이 peak에 머뭅니다", ("peak * 0.5 * (1 + math.cos(math.pi * share))", "peak")),
        Mistake("the peak is not used", "peak를 쓰지 않았습니다", ("return peak * step", "return step"), ("return peak * 0.5", "return 0.5")),
        Mistake("the warm-up goes to total, not to warmup", "워밍업이 warmup이 아니라 total까지 갑니다", ("step / warmup", "step / total")),
        Mistake("the cosine is not shifted by warmup", "코사인을 warmup만큼 옮기지 않았습니다", ("step <= warmup", "step < warmup"), ("(step - warmup) / (total - warmup)", "step / total")),
        Mistake("// cuts the warm-up to 0: it needs /", "//가 워밍업을 0으로 자릅니다: /를 쓰세요", ("peak * step / warmup", "peak * (step // warmup)")),
        Mistake("the angle is in degrees, and math.cos takes radians", "각도가 도 단위입니다. math.cos는 라디안을 받습니다", ("math.pi * share", "180 * share")),
    ),
    trial=lambda program: trained({"rate": lambda step: program.rate(step, 5, STEPS, RATE)}, {"rate": lambda step: own(step, 5, STEPS, RATE)}),
)  # fmt: skip
