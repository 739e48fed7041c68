"""`python -m recombine.cli`."""

import sys

from recombine.cli import main

sys.exit(main())
