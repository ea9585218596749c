"""A real Chromium for the tests of the pages.

`python -m tests.support.chromium` prints its path, and installs it where it may.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.processes import DidNotStart

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET_ONE = (
    "The tests of the pages need a real browser. Install one so that `chromium`, `chromium-browser` or `google-chrome` "
    "is on PATH (Debian: sudo apt-get install chromium; Fedora: sudo dnf install chromium), or name one: "
    "CHROMIUM=/path/to/chromium."
)
# As root there is no user namespace to sandbox the browser in; the pages it opens are our own. Nothing calls home.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _found() -> str | None:
    named = os.environ.get("CHROMIUM")
    if named:
        if not Path(named).exists():
            raise DidNotStart(f"CHROMIUM={named!r} is no file. {HOW_TO_GET_ONE}")
        return named
    return next((path for path in map(shutil.which, NAMES) if path), None)


def find() -> str:
    """The path of a Chromium. For root on Debian a missing one is installed; elsewhere DidNotStart says what to do."""
    path = _found()
    if path:
        return path
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise DidNotStart(f"no Chromium was found, and only root with apt-get could install one here. {HOW_TO_GET_ONE}")
    lock_path = Path(tempfile.gettempdir()) / "tute-league-chromium.lock"
    with lock_path.open("w") as lock:  # the test processes of one run ask at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            path = _found() or _install()
        finally:
            lock_path.unlink(missing_ok=True)
    return path


def _install() -> str:
    print(
        "== no Chromium found: installing Debian's (apt-get install chromium; about 100 MB)",
        file=sys.stderr,
        flush=True,
    )
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"],
    ):
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            output = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
            raise DidNotStart(f"`{' '.join(command)}` failed with code {done.returncode}:\n{output}\n{HOW_TO_GET_ONE}")
    path = _found()
    if not path:
        raise DidNotStart(f"apt-get installed the package chromium, but no browser is on PATH. {HOW_TO_GET_ONE}")
    return path


if __name__ == "__main__":
    try:
        print(find())
    except DidNotStart as error:
        sys.exit(f"error: {error}")
