# An argument that shares memory with what the step changes: a replay wrote the old values back.
w = torch.zeros(3)


def step(x):
    w.add_(1.0)
    return x * 2


step = compile(step)
for number in range(8):
    watch(step, draw(3))
    watch(step, w[:])
    watch(step, w.expand(3))
