"""Instructions of LLVM as functions that kernels call."""

# mypy: disable-error-code="call-arg"

from functools import wraps

from numba import types
from numba.extending import intrinsic

LIKE = "the type of the first argument"


def instruction(same=0, rest=types.int64, gives=types.void):
    """An instruction of the function that emits it, emit(builder, *values), with LLVM's values.

    same: so many arguments come in the types that they have, a literal as its number. rest: the type of all others, or a list of
    their types. gives: what it gives, a type or LIKE.
    """

    def made(emit):
        @intrinsic(prefer_literal=True)
        @wraps(emit)
        def definition(typingctx, *arguments):
            own, count = arguments[:same], len(arguments) - same
            literals = [getattr(kind, "literal_value", None) for kind in arguments[:same]]

            def codegen(context, builder, signature, values):
                result = emit(builder, *[v if n is None else n for v, n in zip(values, literals)], *values[same:])
                return context.get_dummy_value() if gives is types.void else result

            return (own[0] if gives is LIKE else gives)(*own, *(rest if isinstance(rest, list) else [rest] * count)), codegen

        return definition

    return made
