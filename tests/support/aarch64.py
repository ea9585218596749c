"""Python with wasmtime for another family of processors (64-bit ARM), from packages, emulated by QEMU for one process at a time."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from tests.support import debian
from tests.support.processes import DidNotStart

TOP = Path(__file__).resolve().parents[2]
PLACE = TOP / "var" / "test" / "aarch64"
SUITE = "trixie" if sys.version_info >= (3, 12) else "bookworm"
_PLATFORMS = ("--platform", "manylinux2014_aarch64", "--only-binary", ":all:")


def python() -> list[str]:
    """Return the words that start it, made once under var/test. Raise DidNotStart."""
    emulator = debian.find(
        "qemu-user-static", debian.on_path("qemu-aarch64-static"), "Debian: sudo apt-get install qemu-user-static."
    )
    release = version("wasmtime")
    PLACE.mkdir(parents=True, exist_ok=True)
    wheels = PLACE / f"wasmtime-{release}"
    with (PLACE / "lock").open("w") as lock:  # Test processes make it one at a time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (PLACE / ".whole").exists():
            shutil.rmtree(PLACE / "root", ignore_errors=True)
            bootstrap = debian.find(
                "mmdebstrap", debian.on_path("mmdebstrap"), "Debian: sudo apt-get install mmdebstrap."
            )
            _run(bootstrap, "--architectures=arm64", "--variant=extract", "--include=python3", SUITE, PLACE / "root")
            (PLACE / ".whole").touch()
        if not wheels.exists():
            _run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *_PLATFORMS, "--target", wheels, f"wasmtime=={release}")  # fmt: skip
    root = PLACE / "root"
    variables = ("-E", f"PYTHONPATH={wheels}", "-E", f"PYTHONHOME={root}/usr")
    return [emulator, "-L", str(root), *variables, str((root / "usr/bin/python3").resolve()), "-sSB"]


def _run(*command: str | Path) -> None:
    process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode:
        raise DidNotStart(f"`{command[0]}` ended with {process.returncode}: {process.stderr.strip()[-400:]}")
