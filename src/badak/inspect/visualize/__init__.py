"""look: the microscope. One run of a model, and everything in it that can be shown, as one record and one page.

seen = badak.look(model, ids)
seen.save("look.html"), seen.record

look.py       the entry; looking.py makes the run and the backward, result.py is what it gives
trace.py      every operation of the run, what made its inputs, and what the backward brought
sequences.py  tokens, or the picture; which of them an operation reads
attention.py  the matrix of every head, and what the head mostly does
stream.py     the residual stream; layers.py: the layers
answer.py     the logits, and what they would be at every layer
boxes.py      the operations as boxes; groups.py: gates and rotations among them; steps/: one row through one of them
floors.py     formulas, code, derivations
record.py     all of it as one object of JSON; numbers.py: how numbers are written there
page/         the record as one HTML file
"""

from badak.inspect.visualize.look import look as look
from badak.inspect.visualize.result import Look as Look
