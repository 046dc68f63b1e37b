"""`import badak.as_torch`, as the first line of a program or notebook: from then on `import torch` gives badak."""

from badak.core.public_api.finder import stand_in_for_torch

stand_in_for_torch()
