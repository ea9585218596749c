"""pytest on a real PostgreSQL: `python -m tests.support.on_postgres tests/league/domain` (arguments go to pytest).

This wrapper is needed because Django reads its database from the environment before any fixture could start a server.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support import migrated


def main() -> int:
    """Start a server, run pytest against it, stop the server. Return the exit code of pytest."""
    server = migrated.server()
    try:
        print(f"PostgreSQL {server.version} from {server.bin}", flush=True)
        environment = {
            **os.environ,
            "DATABASE_URL": server.create_database(),
            "TEST_TEMPLATE": migrated.create_database(server).rsplit("/", 1)[1],
            "SECRET_KEY": "only for this run of the tests",
            "HTTPS": "0",
        }
        return subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]], env=environment).returncode
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
