"""The means of this machine to enter a setting. CannotBeHad says why one is missing."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from tests.support import debian, languages
from tests.support.processes import DidNotStart

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "var" / "anywhere"  # logs, locales and Debian's roots, which are kept for the next run
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
# A root of its own by pivot_root: below a chroot the kernel refuses user namespaces, and with them a tier of the sandbox.
# The shell stays as process 1, because somebody must reap the children of processes that were killed.
_ENTER = """
root=$1; shift
mount --bind "$root" "$root"; cd "$root"
mount -t proc proc proc; mount --rbind /sys sys; mount --rbind /dev dev
cp -L /etc/resolv.conf etc/resolv.conf
printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >etc/hosts
pivot_root . mnt; umount -l /mnt
cd /srv/tute
"$@" || exit $?
"""
_SUITE_PYTHON = {"bookworm": "3.11", "trixie": "3.13"}
_PACKAGES = "python3,python3-venv,git,make,gcc,libc6-dev,ca-certificates,procps"


class CannotBeHad(RuntimeError):
    """A setting that this machine cannot be brought into; the message says why."""


def find(package: str, program: str) -> str:
    """Return the path of a program of Debian's, installed if need be. Raises CannotBeHad."""
    try:
        return debian.find(package, debian.on_path(program), f"Debian, Ubuntu: sudo apt-get install {package}.")
    except DidNotStart as error:
        raise CannotBeHad(" ".join(str(error).split())) from None


@contextmanager
def account(user: int) -> Iterator[None]:
    """Give a user id an account, as people's have: PostgreSQL refuses to start without one. Raises CannotBeHad."""
    name = f"tute-{user}"
    if not any(entry.pw_uid == user for entry in pwd.getpwall()):
        run([find("passwd", "useradd"), "--uid", str(user), "--user-group", "--no-create-home", name])
    try:
        yield
    finally:
        subprocess.run(["userdel", "--force", name], capture_output=True, check=False)


def make_locale(name: str) -> dict[str, str]:
    """Return the environment of a locale, compiled by localedef into our own folder. Raises CannotBeHad."""
    if name == "C":
        return {"LANG": "C", "LC_ALL": "C"}
    language, charset = name.split(".")
    source = Path("/usr/share/i18n/locales") / language
    try:
        debian.find(
            "locales", lambda: str(source) if source.exists() else None, "Debian: sudo apt-get install locales."
        )
    except DidNotStart as error:
        raise CannotBeHad(" ".join(str(error).split())) from None
    place = WORK / "locales" / name
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        run([find("libc-bin", "localedef"), "-i", language, "-f", charset, str(place)])
    return {"LANG": name, "LC_ALL": name, "LOCPATH": str(place.parent)}


def shift_clock(ahead: timedelta) -> dict[str, str]:
    """Return the environment in which every process sees the wall clock so far ahead. Raises CannotBeHad.

    The monotonic clock stays, since waits for an event would hang under faketime; sleeps by it go past faketime (sleep.c).
    """
    find("faketime", "faketime")
    faketime = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if not faketime:
        raise CannotBeHad("the package faketime has no libfaketimeMT.so.1")
    ours = WORK / "sleep.so"
    try:
        compiler = languages.find("cc")
    except DidNotStart as error:
        raise CannotBeHad(" ".join(str(error).split())) from None
    run([compiler, "-O2", "-shared", "-fPIC", "-o", str(ours), str(Path(__file__).with_name("sleep.c")), "-ldl"])
    preload = f"{ours}:{faketime}"
    return {"LD_PRELOAD": preload, "FAKETIME": f"+{int(ahead.total_seconds())}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def find_python(version: str) -> Path:
    """Return an interpreter of this version, on PATH or among pyenv's. Raises CannotBeHad."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path(os.environ.get("HOME", "/nonexistent")) / ".pyenv") / "versions"
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True),
    ]
    for path in candidates:
        if path and "shims" not in str(path):
            return Path(path).resolve()
    raise CannotBeHad(f"no Python {version} on PATH or in {pyenv}")


def run(command: list[str], **how: object) -> None:
    """Run a step of the preparation. Raise CannotBeHad with the end of its output."""
    process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
    if process.returncode:
        output = " / ".join((process.stdout + process.stderr).strip().splitlines()[-4:])
        raise CannotBeHad(f"`{command[0]}` ended with {process.returncode}: {output}")


def copy_project(place: Path, project: Path = ROOT) -> Path:
    """Copy the files of the working tree that git knows or would take, with its history, into a new folder."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if not (place / ".git").exists():
        run(["git", "clone", "--quiet", "--no-hardlinks", str(project), str(place)])
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    ours, theirs = (
        set(subprocess.run(listed, cwd=folder, capture_output=True, text=True, check=True).stdout.split("\0")) - {""}
        for folder in (project, place)
    )
    for name in theirs - {name for name in ours if os.path.lexists(project / name)}:
        (place / name).unlink(missing_ok=True)
    for name in ours:
        if (project / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project / name, place / name)
    return place


def _sources() -> list[str]:
    """Return the lines of a sources.list with {suite}, for the mirrors that this machine's own apt uses."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    addresses = sorted(set(subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()))
    main = next((address for address in addresses if "security" not in address), "http://deb.debian.org/debian")
    security = next(
        (address for address in addresses if "security" in address), "http://deb.debian.org/debian-security"
    )
    return [
        f"deb {main} {{suite}} main",
        f"deb {main} {{suite}}-updates main",
        f"deb {security} {{suite}}-security main",
    ]


def make_root(suite: str, version: str) -> tuple[list[str], dict[str, str], Path]:
    """Make or reuse a Debian with this Python and a copy of the project: the command that enters it, its environment, and the copy's folder.

    Debian's own interpreter where the suite has that version, else this machine's, copied to the same place.
    """
    own = _SUITE_PYTHON[suite] == version
    python = Path(f"/usr/bin/python{version}") if own else find_python(version)
    if os.geteuid() != 0:
        raise CannotBeHad("only root can make and enter a Debian of its own")
    root = WORK / "roots" / f"{suite}-{version}"
    base = WORK / "roots" / suite
    if not (base / ".whole").exists():
        shutil.rmtree(base, ignore_errors=True)
        sources = [line.format(suite=suite) for line in _sources()]
        base.parent.mkdir(parents=True, exist_ok=True)
        # What it mounts in the root ends with it, however it ends
        alone = [find("util-linux", "unshare"), "--mount", "--propagation", "private"]
        command = [find("mmdebstrap", "mmdebstrap"), "--mode=root", "--variant=minbase", f"--include={_PACKAGES}"]
        run([*alone, *command, suite, str(base), *sources])
        shutil.copyfile(f"/{_CERTIFICATES}", base / _CERTIFICATES)  # those that this machine trusts
        (base / ".whole").touch()
    if not (root / ".whole").exists():
        shutil.rmtree(root, ignore_errors=True)
        run(["cp", "--archive", "--reflink=auto", str(base), str(root)])
        if not own:
            prefix = python.parent.parent
            (root / prefix.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
            if prefix != Path("/usr"):
                run(["cp", "--archive", str(prefix), str(root / prefix.relative_to("/"))])
                _open(root, prefix)
            else:
                raise CannotBeHad(f"Python {version} of this machine belongs to its own system, and {suite} has none")
    (root / ".whole").touch()
    copy = copy_project(root / "srv" / "tute")
    enter = [find("util-linux", "unshare"), "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    environment = {"PYTHON": str(python), "HOME": "/root", "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    return [*enter, "bash", "-ec", _ENTER, "enter", str(root)], environment, copy


def _open(root: Path, prefix: Path) -> None:
    """Let every user of that root pass to the interpreter, which may stand in somebody's home."""
    for folder in (prefix, *prefix.parents[:-1]):
        place = root / folder.relative_to("/")
        place.chmod(place.stat().st_mode | 0o055)
