#!/usr/bin/env python
"""Django's command line for the league: `manage.py help` lists every command, `manage.py help demo` explains one."""

from league.manage import main

if __name__ == "__main__":
    main()
