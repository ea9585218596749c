"""The settings of `make anywhere`: how the machine is brought into each, and which part of the suite is run there."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.anywhere import machine, parts
from tests.anywhere.machine import ROOT, CannotBeHad
from tests.anywhere.parts import Part

ORDINARY_USER = 60_989  # neither a bot's slot nor, on any distribution, somebody's account
LEAP_DAY = datetime(2028, 2, 29, 12, tzinfo=UTC)
AHEAD = timedelta(days=400)


@dataclass
class Prepared:
    """A setting that holds: the words before a command, what its environment has besides, and where the project lies."""

    before: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    project: Path = ROOT
    arguments: list[str] = field(default_factory=list)  # more for pytest
    seen_as: Path | None = None  # The project's path as its processes see it, if they have a root of their own
    cores: int = 64
    install: bool = False  # a copy, which needs an environment of its own
    types: bool = False  # check the types too
    note: str = ""


@dataclass(frozen=True)
class Setting:
    """One line of the output. prepare: brings the machine there, given the seed of the run; raises CannotBeHad with the reason."""

    name: str
    part: Part
    prepare: Callable[[int], AbstractContextManager[Prepared]]


def _fixed(make: Callable[[], Prepared]) -> Callable[[int], AbstractContextManager[Prepared]]:
    @contextmanager
    def prepare(seed: int) -> Iterator[Prepared]:
        yield make()

    return prepare


def _zone(name: str) -> Callable[[int], AbstractContextManager[Prepared]]:
    def make() -> Prepared:
        if not (Path("/usr/share/zoneinfo") / name).exists():
            raise CannotBeHad(f"this machine does not know the time zone {name}: install tzdata")
        return Prepared(environment={"TZ": name})

    return _fixed(make)


def _locale(name: str) -> Callable[[int], AbstractContextManager[Prepared]]:
    return _fixed(lambda: Prepared(environment=machine.make_locale(name)))


def _date(ahead: Callable[[], timedelta]) -> Callable[[int], AbstractContextManager[Prepared]]:
    """Move the wall clock of every process ahead; the monotonic clock, which has no date, goes on as it is."""
    return _fixed(lambda: Prepared(environment=machine.shift_clock(ahead())))


def _one_core() -> Prepared:
    first = min(os.sched_getaffinity(0))
    return Prepared([machine.find("util-linux", "taskset"), "--cpu-list", str(first)], cores=1)


@contextmanager
def _odd_path(seed: int) -> Iterator[Prepared]:
    with tempfile.TemporaryDirectory(prefix="tute-anywhere-") as folder:
        Path(folder).chmod(0o755)
        copy = machine.copy_project(Path(folder) / "una mañana" / "tute")
        yield Prepared(environment={"PYTHON": _base_python()}, project=copy, install=True)


@contextmanager
def _ordinary_user(seed: int) -> Iterator[Prepared]:
    if os.geteuid() != 0:
        yield Prepared(note="you are one")
        return
    with machine.account(ORDINARY_USER), tempfile.TemporaryDirectory(prefix="tute-anywhere-") as name:
        folder = Path(name)
        copy = machine.copy_project(folder / "tute")
        (folder / "tmp").mkdir()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, ORDINARY_USER, ORDINARY_USER, follow_symlinks=False)
        folder.chmod(0o755)
        words = [machine.find("util-linux", "setpriv"), f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}"]
        python = shutil.which("python3", path="/usr/bin:/bin") or _base_python()
        environment = {"HOME": name, "TMPDIR": f"{name}/tmp", "PYTHON": python, "USER": "tute"}
        yield Prepared([*words, "--clear-groups"], environment, copy, install=True)


@contextmanager
def _order(seed: int) -> Iterator[Prepared]:
    words = ["-p", "randomly", f"--randomly-seed={seed}"]
    yield Prepared(environment={"PYTHONHASHSEED": str(seed)}, arguments=words, note=f"seed {seed}")


def _debian(suite: str, version: str) -> Callable[[int], AbstractContextManager[Prepared]]:
    def make() -> Prepared:
        enter, environment, copy = machine.make_root(suite, version)
        return Prepared(enter, environment, copy, install=True, types=True, seen_as=Path("/srv/tute"))

    return _fixed(make)


def _base_python() -> str:
    return str(Path(sys.base_prefix) / "bin" / "python{}.{}".format(*sys.version_info))


SETTINGS = (
    Setting("timezone-kiritimati", parts.CLOCK, _zone("Pacific/Kiritimati")),
    Setting("timezone-st-johns", parts.CLOCK, _zone("America/St_Johns")),
    Setting("lang-c", parts.WORDS, _locale("C")),
    Setting("lang-es", parts.WORDS, _locale("es_ES.UTF-8")),
    Setting("lang-tr", parts.WORDS, _locale("tr_TR.UTF-8")),
    Setting("date-400-days-ahead", parts.CLOCK, _date(lambda: AHEAD)),
    Setting("date-leap-day", parts.CLOCK, _date(lambda: LEAP_DAY - datetime.now(UTC))),
    Setting("one-core", parts.CORES, _fixed(_one_core)),
    Setting("odd-path", parts.PLACES, _odd_path),
    Setting("random-order", parts.ORDER, _order),
    Setting("ordinary-user", parts.RIGHTS, _ordinary_user),
    *(
        Setting(f"python-{version}-{suite}", parts.SYSTEMS, _debian(suite, version))
        for suite in ("bookworm", "trixie")
        for version in ("3.11", "3.12", "3.13")
    ),
)
