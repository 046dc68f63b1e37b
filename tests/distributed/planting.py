"""Random programs of collectives with one mistake on one rank, and what must come of them."""

import random

KINDS = ("all_reduce", "broadcast", "all_gather", "barrier", "reduce_scatter", "mail", "objects")
MISTAKES = ("skip", "twice", "shape", "dtype", "kind", "root", "swap", "leave")


def step(chance: random.Random, size: int) -> dict:
    """One collective, the same on all ranks."""
    members = sorted(chance.sample(range(size), chance.randint(2, size)))
    return {
        "kind": chance.choice(KINDS), "shape": (chance.randint(1, 4), chance.randint(1, 4)), "dtype": "float32",
        "members": members, "root": chance.choice(members), "to": chance.choice(members),
    }  # fmt: skip


def plan(seed: int, size: int) -> tuple[list[dict], list[list[dict]], tuple]:
    """The right program, that of each rank, and what is planted: (mistake, rank, place)."""
    chance = random.Random(seed)
    right = [step(chance, size) for _ in range(chance.randint(2, 6))]
    for number, one in enumerate(right):
        one["shape"] = (number + 1, one["shape"][1])  # so that no two are alike
    each = [[dict(one) for one in right] for _ in range(size)]
    mistake, place = chance.choice(MISTAKES), chance.randrange(len(right))
    rank = chance.choice(right[place]["members"])
    steps, one = each[rank], each[rank][place]
    if mistake == "skip":
        del steps[place]
    elif mistake == "twice":
        steps.insert(place, dict(one))
    elif mistake == "shape":
        one["shape"] = (one["shape"][0], one["shape"][1] + 1)
    elif mistake == "dtype":
        one["dtype"] = "float64"
    elif mistake == "kind":
        one["kind"] = "all_reduce" if one["kind"] != "all_reduce" else "broadcast"
    elif mistake == "root":
        one["root"] = next(r for r in one["members"] if r != one["root"])
    elif mistake == "swap" and len(steps) > 1:
        other = (place + 1) % len(steps)
        steps[place], steps[other] = steps[other], steps[place]
    elif mistake == "leave":
        del steps[place:]
        steps.append({"kind": "leave"})
    return right, each, (mistake, rank, place)


def does(one: dict, rank: int) -> tuple:
    """What others can see of a step of this rank."""
    kind = one["kind"]
    if kind == "leave" or rank not in one["members"]:
        return (kind,) if kind == "leave" else ()
    if kind == "mail":
        role = one["members"].index(rank)
        return (kind, tuple(one["members"]), role, one["shape"], one["dtype"]) if role < 2 else ()
    what = () if kind in ("barrier", "objects") else (one["shape"], one["dtype"])
    return (kind, tuple(one["members"]), *what, one["root"] if kind == "broadcast" else None)


def goes_well(each: list[list[dict]]) -> bool:
    """Whether these programs come to their ends: each rank waits in its step until the others of the group are in the same one."""
    left = [[act for one in steps if (act := does(one, rank))] for rank, steps in enumerate(each)]
    letters: list[tuple] = []
    moved = True
    while moved:
        moved = False
        for acts in left:
            act = acts[0] if acts else ("over",)
            if act[0] == "mail":
                if act[2] == 0:
                    letters.append((act[1], *act[3:]))
                elif next((letter for letter in letters if letter[0] == act[1]), None) == (act[1], *act[3:]):
                    letters.remove((act[1], *act[3:]))
                else:
                    continue
                acts.pop(0)
                moved = True
            elif act[0] not in ("over", "leave") and all(left[other][:1] == [act] for other in act[1]):
                for other in act[1]:
                    left[other].pop(0)
                moved = True
    return not any(left)
