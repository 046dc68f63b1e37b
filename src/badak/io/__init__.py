"""Files: untrusted bytes in, named tensors and checked settings out.

Threat model. Whoever made a file chose every byte of it, knows badak, and knows the program that reads it. For every reader
(.pt files new and old, safetensors, settings and vocabularies in JSON; IDX files and pictures in their packages) and in every mode:

- **No file runs code.** Nothing in it names what is called. A pickle is read by a machine of our own (`unpickler.py`), whose
  table of functions is ours; classes come from the running program, by identity, and none of their code runs (`program.py`).
  The one exception is the program's own: a class or function that it hands to `serialization.add_safe_globals` is called as the
  file says.
- **No file is believed without need.** A size, an offset, a shape, a name, a count is checked before it is used: against the
  bytes that are there, or against a limit that stands in the reader. Nothing outside the file is opened, read or written.
- **A file costs what it weighs.** Time and memory are bounded by the file's size, or by a limit that stands in the reader.
- **What another library does with a file happens elsewhere** where its time cannot be known: templates and the patterns of
  tokenizers go to a process with limits (`limited.py`).
- **Nothing is written through a link**, nor into a file that is not ours: `atomic.py` and `lock.py` do all writing.
- **The end is a value or a FileError** of two lines, with the file, the cause and a fix; never another library's exception.
  Messages quote at most a few dozen letters of a file, escaped, and no code of a value's class (`errors.shown`).

What is not promised: that the values are true. A file can hold any numbers, and an object that the program asked for with
weights_only=False any attributes; what the program does with them is the program's.
"""

from badak.io import checkpoint as checkpoint
from badak.io import config as config
from badak.io import safetensors as safetensors
from badak.io import serialization as serialization
from badak.io.pt import load as load
from badak.io.pt import save as save
