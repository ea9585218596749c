"""Programs of the operating system that some tests need: found on PATH, or installed if this is allowed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.support.processes import DidNotStart


def on_path(*names: str) -> Callable[[], str | None]:
    """Return a function that finds the first of these programs on PATH or in the folders of an administrator."""
    folders = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    return lambda: next((path for path in (shutil.which(name, path=folders) for name in names) if path), None)


def find(package: str, look: Callable[[], str | None], how_to_get_one: str) -> str:
    """Return what `look` finds, after installing the package (or several, separated by spaces) if necessary.

    Only root on Debian installs; elsewhere DidNotStart says what to do.
    """
    path = look()
    if path:
        return path
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise DidNotStart(
            f"{package} was not found, and only root with apt-get could install it here. {how_to_get_one}"
        )
    lock_path = Path(tempfile.gettempdir()) / "tute-league-apt.lock"
    with lock_path.open("w") as lock:  # The test processes of a run call this at the same time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return look() or _install(package, look, how_to_get_one)


def _install(package: str, look: Callable[[], str | None], how_to_get_one: str) -> str:
    print(f"== {package} not found: installing Debian's (apt-get install {package})", file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    patient = ["apt-get", "-q", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"]
    for command in ([*patient, "update"], [*patient, "install", "-y", "--no-install-recommends", *package.split()]):
        process = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if process.returncode:
            output = "\n".join((process.stdout + process.stderr).splitlines()[-15:])
            raise DidNotStart(
                f"`{' '.join(command)}` failed with code {process.returncode}:\n{output}\n{how_to_get_one}"
            )
    path = look()
    if not path:
        raise DidNotStart(f"apt-get installed {package}, but what was looked for is not there. {how_to_get_one}")
    return path
