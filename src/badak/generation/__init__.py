"""Answers of a trained model: text from left to right, words for a [MASK], the class of a picture.

`badak.generation.picture` stands apart: it needs Pillow, which the others do not have to wait for.
"""

from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import guard_types as _guard_types
from badak.generation.beams import beam_search as beam_search
from badak.generation.fill_mask import fill_mask as fill_mask
from badak.generation.logit_filters import GenerationConfig as GenerationConfig
from badak.generation.logit_filters import filter_logits as filter_logits
from badak.generation.sampling import generate as generate
from badak.generation.sampling import stream as stream

_guard_names(globals(), __name__)
_guard_types(globals(), __name__)
