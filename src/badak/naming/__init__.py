"""Names: where a name of PyTorch stands in badak, and what is said where it stands nowhere.

`table.py` is the list of PyTorch's names (pytorch.txt), of the places in badak, and of what to use instead; `missing.py` the
answer to a name that badak does not have; `explain.py` what a public call says that fails unforeseen; `door.py` the
`__getattr__` of a package; `homes.py` which module a class shows;
`finder.py` what `import` asks, once asked for; `version.py` the version that a program sees.
"""

from badak.naming.door import door as door
from badak.naming.explain import explain as explain
from badak.naming.explain import guard_classes as guard_classes
from badak.naming.explain import guard_names as guard_names
from badak.naming.explain import guard_types as guard_types
from badak.naming.explain import guarded as guarded
from badak.naming.explain import guarded_operator as guarded_operator
from badak.naming.homes import home as home
from badak.naming.missing import Missing as Missing
from badak.naming.missing import MissingName as MissingName
from badak.naming.missing import absent as absent
from badak.naming.missing import absent_attribute as absent_attribute
from badak.naming.table import instead as instead
from badak.naming.table import is_pytorch as is_pytorch
from badak.naming.table import names_of as names_of
