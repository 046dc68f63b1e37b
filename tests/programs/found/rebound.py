# A name that stands outside of the step was given to another tensor: replays went on with the first.
kept = draw(2, 3)


def step(x):
    kept.mul_(0.5)
    return x + kept


step = compile(step)
for number in range(8):
    if number == 4:
        kept = draw(2, 3)
    if number == 6:
        kept = kept.double()
    watch(step, draw(2, 3))
