"""Anomaly mode: stop at the first operation, forward or backward, that makes a NaN or an Inf out of finite numbers."""

from badak.core import events
from badak.core.modes import modes
from badak.tensor.anomaly import ANOMALY


class set_detect_anomaly:  # noqa: N801
    """set_detect_anomaly(mode): at once, and undone at the end of a `with` block. Costs a look at every result."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = modes.anomaly, modes.debug
        events.setting("set_detect_anomaly")
        _set(bool(mode) and check_nan, bool(mode) or modes.debug)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error) -> None:
        _set(*self._before)


def _set(anomaly: bool, debug: bool) -> None:
    modes.anomaly, modes.debug = anomaly, debug
    events.watch(ANOMALY, anomaly)
    events.watch(events.DEBUG, debug)


class detect_anomaly(set_detect_anomaly):  # noqa: N801
    """with detect_anomaly(): the block's operations are checked and remember the user's lines."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether results are being checked."""
    return modes.anomaly
