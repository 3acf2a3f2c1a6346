"""`python -m subspaces` is the command line."""

import sys

from subspaces.cli import main

sys.exit(main())
