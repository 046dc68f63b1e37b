# A recording that is refused gave its copy of an argument: in the result, and in what the step keeps.
log = []


def step(m):
    m.add_(1)
    log.append(1)
    return [m, (m.T,)]


step = compile(step)


def keeps(x):
    log.append(x)
    log.append(x[0])
    log.append(x.detach())


keeps = compile(keeps)
x = draw(2, 3)
m = torch.zeros(2, 3)
for number in range(7):
    result = watch(step, m)
    watch(keeps, x)
    x.mul_(2)
