"""`torch.distributed.constants`: how long a group waits for its ranks, where nobody says."""

from datetime import timedelta

from badak.distributed.clock import HALF_AN_HOUR

default_pg_timeout = timedelta(seconds=HALF_AN_HOUR)
