"""badak's audit and doctor as judges of a learner's model and training."""

from collections.abc import Callable
from typing import Any

from badak import nn
from badak.cli.course.exercise import Both, Refused
from badak.core.i18n import say, tr
from badak.inspect.audit.audit import audit
from badak.inspect.doctor.doctor import doctor
from badak.tensor import Tensor
from badak.tensor.generator import Generator


def audited(model: nn.Module, batch: Any, **options: Any) -> int:
    """How many findings `badak.audit` has, 0; Refused with the first of them."""
    found = audit(model, batch, **options).findings
    if found:
        first = found[0]
        where = f"{first.code}, {first.module}" if first.module else first.code
        raise Refused(
            Both(tr("badak audit, {}: {}", where, first.cause), f"badak audit, {where}: {say(first.cause)}"),
            Both(first.fix, say(first.fix)),
        )
    return 0


def watched(train: Callable[[], Any], steps: int) -> Any:
    """What train() returns, under the eyes of `badak.doctor`; Refused with the first finding."""
    with doctor(steps, quiet=True) as checkup:
        made = train()
    if checkup.findings:
        first = checkup.findings[0]
        raise Refused(
            Both(tr("badak doctor, {}: {}", first.code, first.cause), f"badak doctor, {first.code}: {say(first.cause)}"),
            Both(first.fix, say(first.fix)),
        )
    return made


def filled(model: nn.Module) -> nn.Module:
    """The model, with weights that depend on their shapes and order alone; scales of norms near 1."""
    for i, w in enumerate(model.parameters()):
        draw = Tensor.new_empty(w, w.shape).uniform_(-1, 1, generator=Generator().manual_seed(i))
        w.data = draw * 0.3 + 1 if w.ndim == 1 and i % 2 == 0 else draw * (w.shape[-1] ** -0.5)
    return model
