# An attribute of a module that the step does not know dropped its recording, without a word.
unrelated = nn.Linear(2, 2)
model = nn.Linear(4, 3)


def step(x):
    with torch.no_grad():
        return model(x)


step = compile(step)
for number in range(9):
    unrelated.seen = number
    watch(step, draw(2, 4))
