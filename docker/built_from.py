"""Says which commit an image is built from: `built_from.py CONTEXT [COMMIT] [VERSION]`, while docker/Dockerfile is built.

CONTEXT holds what docker/Dockerfile.dockerignore lets in, of git's folder the names of its commits alone. COMMIT and VERSION come from .env, where
docker/prepare has written them; without either, or without git, the other one counts. Two that differ end the build: an image that tells of
another commit than its own is worse than none.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

AGAIN = "run docker/prepare again, which writes what is true into .env"


def commit(context: Path) -> str:
    """What HEAD of the git folder in the context stands at; "" where there is none, or one of another form."""
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


def main(context: str, told: str = "", version: str = "") -> str:
    """The commit. Exits with a reason where two differ."""
    found = commit(Path(context))
    if told and found and told != found:
        sys.exit(f"error: COMMIT={told}, but the context is of {found}: {AGAIN}")
    source = (Path(context) / "engine" / "version.py").read_text(encoding="utf-8")
    stated = re.findall(r'^VERSION = "(.+)"$', source, flags=re.MULTILINE)
    if version and [version] != stated:
        sys.exit(f"error: VERSION={version}, but engine/version.py has {' '.join(stated)}: {AGAIN}")
    return told or found


if __name__ == "__main__":
    print(main(*sys.argv[1:4]))
