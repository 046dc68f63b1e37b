# The step gave a global other memory; in a call that was recorded the global was an argument as well, of which the step had a twin.
model = nn.Linear(3, 2)
kept = torch.zeros(4, 2)


def step(x, target):
    out = model(x)
    kept.data = out.detach()
    loss = F.mse_loss(out, target)
    loss.backward()
    return loss.detach()


step = compile(step)
for number in range(6):
    watch(step, draw(4, 3), kept if number == 1 else draw(4, 2))
