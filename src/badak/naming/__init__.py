"""Names: where a name of PyTorch stands in badak, and what is said where it stands nowhere.

`table.py` is the list of PyTorch's names (pytorch.txt), of the places in badak, and of what to use instead; `missing.py` the
answer to a name that badak does not have; `door.py` the `__getattr__` of a package; `finder.py` what `import` asks;
`version.py` the version that a program sees.
"""

from .door import door as door
from .finder import stand_in_for_torch as stand_in_for_torch
from .missing import Missing as Missing
from .missing import MissingName as MissingName
from .missing import absent as absent
from .missing import absent_attribute as absent_attribute
from .table import instead as instead
from .table import is_pytorch as is_pytorch
from .table import names_of as names_of
