# A result that is a view with gaps, or an expanded one, came back from a replay without them.
def last(x):
    return (x * 2)[:, -1], (x * 2)[:1].expand(3, -1, -1), (x * 2).transpose(0, 2)


last = compile(last)
for number in range(6):
    watch(last, draw(2, 3, 9))
