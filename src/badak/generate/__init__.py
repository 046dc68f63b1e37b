"""Answers of a trained model: text from left to right, words for a [MASK], the class of a picture.

`badak.generate.picture` stands apart: it needs Pillow, which the others do not have to wait for.
"""

from badak.generate.fill_mask import fill_mask as fill_mask
from badak.generate.filters import SampleConfig as SampleConfig
from badak.generate.filters import filter_logits as filter_logits
from badak.generate.sampling import beam_search as beam_search
from badak.generate.sampling import generate as generate
from badak.generate.sampling import stream as stream
from badak.naming import guard_names as _guard_names
from badak.naming import guard_types as _guard_types

_guard_names(globals(), __name__)
_guard_types(globals(), __name__)
