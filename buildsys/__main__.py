"""`python -m buildsys`: the command line; everything is in :mod:`buildsys.cli`."""

import sys

from buildsys.cli import main

if __name__ == "__main__":
    sys.exit(main())
