"""Anomaly mode: stop at the first operation, forward or backward, that makes a NaN or an Inf out of finite numbers."""

from badak.graph.modes import modes


class set_detect_anomaly:  # noqa: N801
    """set_detect_anomaly(mode): at once, and undone at the end of a `with` block. Costs a look at every result."""

    def __init__(self, mode: bool, check_nan: bool = True):
        self._before = modes.anomaly, modes.debug
        modes.anomaly = bool(mode) and check_nan
        modes.debug = bool(mode) or modes.debug
        modes.look_again()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error) -> None:
        modes.anomaly, modes.debug = self._before
        modes.look_again()


class detect_anomaly(set_detect_anomaly):  # noqa: N801
    """with detect_anomaly(): the block's operations are checked and remember the user's lines."""

    def __init__(self, check_nan: bool = True):
        super().__init__(True, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether results are being checked."""
    return modes.anomaly
