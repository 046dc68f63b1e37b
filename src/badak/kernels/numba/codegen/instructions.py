"""Instructions of LLVM as functions that kernels call."""

# mypy: disable-error-code="call-arg"

from functools import wraps
from inspect import signature

from numba import types
from numba.extending import intrinsic

LIKE = "the type of the first argument"


def instruction(same=0, rest=types.int64, gives=types.void, **among):
    """An instruction of the function that emits it, emit(builder, *values), with LLVM's values.

    same: so many arguments come in the types that they have, a literal as its number. rest: the type of all others, or a list of
    their types. gives: what it gives, a type or LIKE. among: the numbers that an argument may be, by its name: where it is no
    literal, what is emitted for each of them stands in a branch of its own.
    """

    def made(emit):
        names = [*signature(emit).parameters][1:]

        @intrinsic(prefer_literal=True)
        @wraps(emit)
        def definition(typingctx, *arguments):
            own, count = arguments[:same], len(arguments) - same
            literals = [getattr(kind, "literal_value", None) for kind in own]

            def codegen(context, builder, kinds, values):
                def emitted(*known):
                    at = len(known)
                    if at == same:
                        return emit(builder, *known, *values[same:])
                    if literals[at] is not None:
                        return emitted(*known, literals[at])
                    return branch(known, among[names[at]]) if names[at] in among else emitted(*known, values[at])

                def branch(known, numbers):
                    value = values[len(known)]
                    if len(numbers) == 1:
                        return emitted(*known, numbers[0])
                    with builder.if_else(builder.icmp_signed("==", value, value.type(numbers[0]))) as (first, other):
                        with first:
                            emitted(*known, numbers[0])
                        with other:
                            branch(known, numbers[1:])
                    return None

                result = emitted()
                return context.get_dummy_value() if gives is types.void else result

            return (own[0] if gives is LIKE else gives)(*own, *(rest if isinstance(rest, list) else [rest] * count)), codegen

        return definition

    return made
