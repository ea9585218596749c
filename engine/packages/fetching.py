"""Fetch a bot from a tag of a Git repository: its bytes by `git_http`, in a process of its own; its files by Git, in the sandbox without network.

So Git reads whatever a repository contains where it can reach nothing, and the process that reaches the network starts no program and opens no
file. Git never checks anything out: no hook, filter or submodule runs. Links stay entries of the zip, which `archive.read` refuses.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.packages.archive import MAX_BYTES
from engine.sandbox import BuildLimits, SandboxError, SandboxUnavailable, run_build
from engine.sandbox.policy import MIB
from engine.sandbox.tiers.building import compilers

MOST_BYTES = 32 * MIB  # Of the pack that a server sends: the commit with all its files, compressed.
WALL_S = 60.0
_LOOK_S = 0.2
_MOST_FILES = 5000  # Before `archive.read` counts those of a package.
_LIMITS = BuildLimits(memory_mb=512, scratch_mb=128, processes=16, cpu_s=30, wall_s=60, result_mb=MAX_BYTES // MIB + 1)
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - inside the sandbox
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
_PACK = "pack"
_SCRIPT = f"""set -e
exec 3>&1 1>&2
fail() {{ echo "$1"; exit 1; }}
git init --quiet --bare --template= /tmp/r
cd /tmp/r
git -c pack.threads=1 index-pack --stdin < /src/{_PACK} > /dev/null || fail "the server sent a damaged pack"
commit=$(git rev-parse --verify --quiet "$1^{{commit}}") || fail "the tag does not name a commit"
[ "$(git cat-file -t "$commit:$2" 2> /dev/null)" = tree ] || fail "the commit has no folder $2"
git ls-tree -r "$commit:$2" | head -n {_MOST_FILES + 1} > /tmp/names
[ "$(wc -l < /tmp/names)" -le {_MOST_FILES} ] || fail "the folder has more than {_MOST_FILES} files"
if grep -q "^160000 " /tmp/names; then fail "the folder has a submodule; put its files into the repository"; fi
echo "$commit" >&3
exec git archive --format=zip "$commit:$2" >&3"""


@dataclass(frozen=True)
class Fetched:
    """The end of a fetch. commit: of the tag; data: the folder as a zip, still unchecked; why: one sentence for the author if there is none."""

    commit: str = ""
    data: bytes = b""
    why: str = ""


def why_not() -> str:
    """Return why this machine has no Git, or ""."""
    return (
        "" if shutil.which("git", path="/usr/bin:/bin") else "git is not installed; Debian, Ubuntu: apt-get install git"
    )


def fetch(
    url: str,
    tag: str,
    folder: str,
    state_dir: Path,
    *,
    private: bool = False,
    wall_s: float = WALL_S,
    most_bytes: int = MOST_BYTES,
    stop: Callable[[], bool] = lambda: False,
) -> Fetched | None:
    """Fetch a folder ("": the whole tree) at a tag. Return None if `stop` returned True. Raise SandboxError for a fault of this machine.

    private: the operator lets this host have an address that is not public. The caller has checked url, tag and folder.
    """
    if why := why_not():
        raise SandboxUnavailable(why)
    order = {"url": url, "tag": tag, "private": private, "most_bytes": most_bytes, "parent": os.getpid()}
    answer = _download(order, wall_s, stop)
    if answer is None:
        return None
    line, _, pack = answer.partition(b"\n")
    if not line:
        return Fetched(why=f"the server took longer than {wall_s:g} s")
    report = json.loads(line)
    if "why" in report:
        return Fetched(why=report["why"])
    with tempfile.TemporaryDirectory(prefix="tute-fetch-") as name:
        source = Path(name)
        source.chmod(0o755)
        (source / _PACK).write_bytes(pack)
        (source / _PACK).chmod(0o644)
        argv = ["/usr/bin/sh", "-c", _SCRIPT, "fetch", report["id"], folder]
        end = run_build(
            argv, source, state_dir, toolchain=compilers(), environment=_ENVIRONMENT, limits=_LIMITS, stop=stop
        )
    if end is None:
        return None
    if end.excess:
        return Fetched(why=f"reading the commit was ended: {end.excess}")
    commit, _, data = end.result.partition(b"\n")
    if not end.succeeded or not data:
        return Fetched(why=(end.log.strip().splitlines() or ["git failed without a message"])[-1][:300])
    return Fetched(commit.decode(), data)


def _download(order: dict[str, Any], wall_s: float, stop: Callable[[], bool]) -> bytes | None:
    """Return the output of the process that reads from the network; empty if it took too long. Raise SandboxError if it failed."""
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    if certificates := ssl.get_default_verify_paths().cafile:
        environment["SSL_CERT_FILE"] = certificates
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "engine.packages.git_http"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
    )
    until = time.monotonic() + wall_s
    line: bytes | None = json.dumps(order).encode() + b"\n"
    try:
        while True:
            try:
                output, errors = process.communicate(line, timeout=_LOOK_S)
            except subprocess.TimeoutExpired:
                line = None  # It was passed on at the first call.
                if stop():
                    return None
                if time.monotonic() > until:
                    return b""
                continue
            if process.returncode:
                raise SandboxError(f"a fetch failed: {errors.decode(errors='replace')[-300:]}")
            return output
    finally:
        process.kill()
        process.communicate()
