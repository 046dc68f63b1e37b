# A compiled update whose gradients come from outside, new ones each time: replays read the memory of the first ones.
weight = draw(3).requires_grad_()
optimizer = optim.Adam([weight], lr=0.01)


def update():
    optimizer.step()
    optimizer.zero_grad()


update = compile(update)
for number in range(8):
    (weight * draw(3)).sum().backward()
    watch(update)
