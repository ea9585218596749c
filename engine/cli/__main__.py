"""`python -m engine.cli`, equivalent to `tute`."""

import sys

from engine.cli import main

sys.exit(main())
