"""Print the commit that an image is built from: `built_from.py CONTEXT [COMMIT] [VERSION]`, called by docker/Dockerfile.

CONTEXT holds what docker/Dockerfile.dockerignore allows, with only the names of commits from git's folder. COMMIT and VERSION come from .env, where
docker/prepare wrote them. If git or COMMIT is missing, the other one is used. If they differ the build fails: an image that names a wrong commit is
worse than one that names none.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

AGAIN = "run docker/prepare again, which writes the current values into .env"


def commit(context: Path) -> str:
    """Return the commit at HEAD of the git folder in the context, "" if it cannot be read there."""
    git = context / ".git"
    try:
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    try:
        return (git / name).read_text(encoding="utf-8").strip()
    except OSError:
        pass
    try:
        packed = (git / "packed-refs").read_text(encoding="utf-8")
    except OSError:
        return ""
    return next((line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}")), "")


def main(context: str, expected: str = "", version: str = "") -> str:
    """Return the commit. Exit with a reason if the commit or the version differs from the given one."""
    head = commit(Path(context))
    if expected and head and expected != head:
        sys.exit(f"error: COMMIT={expected}, but the context is at {head}: {AGAIN}")
    source = (Path(context) / "engine" / "version.py").read_text(encoding="utf-8")
    stated = re.findall(r'^VERSION = "(.+)"$', source, flags=re.MULTILINE)
    if version and [version] != stated:
        sys.exit(f"error: VERSION={version}, but engine/version.py has {' '.join(stated)}: {AGAIN}")
    return expected or head


if __name__ == "__main__":
    print(main(*sys.argv[1:4]))
