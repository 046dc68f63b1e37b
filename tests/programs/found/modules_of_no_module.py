# An object that is no module and has an attribute `_modules` was taken for one: an AttributeError in the recorded call.
class Registry:
    def __init__(self):
        self._modules = {"scale": 2.0}

    def get(self):
        return self._modules["scale"]


registry = Registry()


def step(x):
    return x * registry.get()


step = compile(step)
for number in range(9):
    if number == 5:
        registry._modules["scale"] = 3.0
    watch(step, draw(2, 3))
