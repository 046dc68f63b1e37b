"""audit: does the model do what it is meant to? Each probe changes one thing that must not matter, or must, and looks.

report = badak.audit(model, batch)
report.ok, report.findings, print(report), report.to_html()

questions.py  the order of the questions; `probes/` has one file for each; audit.py is the entry
batch.py      what the model is called with: texts, masks, pictures, which axis is what
axes.py       (B, T) or (T, B)
kind.py       whether the model is causal, bidirectional, an encoder and decoder, or reads pictures
watch.py      every submodule's inputs and outputs during one forward, and who sees whom in its attentions
compare.py    what is equal in two forwards: before a position, of a row, apart from padding, to rounding
localize.py   from the whole model down to the module where a difference begins
einsums.py    the axes of scores by einsum
graph.py      the first forward as a graph of operations, and the attentions in it
answer.py     what the model answers, however it is wrapped, and where positions stand in that
subject.py    the model under audit: forwards, counted, made ready (`ready.py`) and put back as it was (`preserve_state.py`)
report.py     findings, as text and as HTML
"""

from badak.inspect.audit.audit import audit as audit
from badak.inspect.audit.report import Audit as Audit
from badak.inspect.audit.report import Finding as Finding
