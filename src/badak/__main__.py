"""`python -m badak` is the command `badak`."""

import sys

from badak.cli import main

if __name__ == "__main__":
    sys.exit(main())
