"""Results with names: x.max(dim) gives a pair (values, indices) whose parts can be asked for by name."""

from collections import namedtuple


def _result(name: str, fields: str):
    kind = namedtuple(name, fields)  # noqa: PYI024  (made in a loop)
    kind.__module__ = "badak.return_types"
    kind.__repr__ = lambda self: (
        f"badak.return_types.{name}(\n"
        + ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        + ")"
    )
    return kind


max = _result("max", "values indices")
min = _result("min", "values indices")
sort = _result("sort", "values indices")
topk = _result("topk", "values indices")
median = _result("median", "values indices")
kthvalue = _result("kthvalue", "values indices")
cummax = _result("cummax", "values indices")
cummin = _result("cummin", "values indices")
mode = _result("mode", "values indices")
aminmax = _result("aminmax", "min max")
