"""The command line of an installed league: `tute-manage`, and `python -m league.manage`. In a clone `manage.py` is the same."""

import gc
import importlib.util
import os
import sys


def main() -> None:
    """Run one management command; its exit code is the process's."""
    if importlib.util.find_spec("django") is None:
        sys.exit("The league is not installed here, only the toolbox. Add it with: pip install 'tute-league[league]'")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
    # Loaded modules stay in memory, and collecting while loading takes a tenth of the start; `league.apps` enables the collector again.
    gc.disable()
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from engine.console import escape_what_cannot_be_shown

    escape_what_cannot_be_shown()
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    except OperationalError as error:
        from league.service import logs

        if not (why := logs.away(error)):
            raise
        sys.exit(f"{sys.argv[0]}: {why}")


if __name__ == "__main__":
    main()
