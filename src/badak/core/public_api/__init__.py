"""Names: where a name of PyTorch stands in badak, and what is said where it stands nowhere.

`table.py` is the list of PyTorch's names (pytorch.txt), of the places in badak, and of what to use instead; `missing.py` the
answer to a name that badak does not have; `explain.py` what a public call says that fails unforeseen; `import_time.py` who gets a
placeholder instead; `door.py` the `__getattr__` of a package; `homes.py` which module a class shows;
`finder.py` what `import` asks, once asked for; `version.py` the version that a program sees.
"""

from badak.core.public_api import overriding as overriding
from badak.core.public_api.door import door as door
from badak.core.public_api.explain import explain as explain
from badak.core.public_api.explain import guard_classes as guard_classes
from badak.core.public_api.explain import guard_names as guard_names
from badak.core.public_api.explain import guard_types as guard_types
from badak.core.public_api.explain import guarded as guarded
from badak.core.public_api.explain import guarded_operator as guarded_operator
from badak.core.public_api.homes import home as home
from badak.core.public_api.missing import Missing as Missing
from badak.core.public_api.missing import MissingName as MissingName
from badak.core.public_api.missing import absent as absent
from badak.core.public_api.missing import absent_attribute as absent_attribute
from badak.core.public_api.missing import placeholders as placeholders
from badak.core.public_api.table import instead as instead
from badak.core.public_api.table import is_pytorch as is_pytorch
from badak.core.public_api.table import listed_spaces as listed_spaces
from badak.core.public_api.table import names_of as names_of
