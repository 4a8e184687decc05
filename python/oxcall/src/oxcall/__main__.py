"""`python -m oxcall`."""

import sys

from oxcall._cli import main

if __name__ == "__main__":
    sys.exit(main())
