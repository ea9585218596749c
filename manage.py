#!/usr/bin/env python
"""Django's command line for the league: `manage.py help` lists every command, `manage.py help demo` explains one."""

import gc
import os
import sys


def main() -> None:
    """Run one management command; its exit code is the process's."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
    # What is loaded stays. To look through it for garbage while it comes takes a tenth of the start; `league.apps` begins that again
    gc.disable()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
