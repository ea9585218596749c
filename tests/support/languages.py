"""The compilers and interpreters of the bot kits. Without them kits would go untested."""

from __future__ import annotations

from tests.support import debian

PACKAGES = {"cc": "gcc", "node": "nodejs", "rustc": "rustc"}


def find(tool: str) -> str:
    """The path of `cc`, `node` or `rustc`; installed where that is allowed, DidNotStart where there is none."""
    package = PACKAGES[tool]
    return debian.find(package, debian.on_path(tool), f"Debian, Ubuntu: sudo apt-get install {package}.")
