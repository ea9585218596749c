"""`python -m engine.cli`, the same as `tute`."""

import sys

from engine.cli import main

sys.exit(main())
