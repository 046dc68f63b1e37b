# An error while a step was recorded: what it had done to its arguments until then was lost.
def step(x, m):
    m.add_(x)
    if stop:
        raise ValueError("stop")


step = compile(step)
stop = False
m = torch.zeros(2, 3)
for number in range(7):
    stop = number == 2
    watch(step, draw(2, 3), m)
