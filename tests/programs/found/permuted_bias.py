# One thread kept the order of a permuted tensor when a bias was added, several did not; sums over it then had other bits.
bias = draw(64)


def step(x):
    y = x.transpose(0, 1) + bias
    return y, y.sum((0, 1)), torch.cat([x.transpose(0, 1), x.transpose(0, 1)]).sum((0, 1)), y.mean(0)


step = compile(step)
for number in range(5):
    watch(step, draw(64, 64, 64))
