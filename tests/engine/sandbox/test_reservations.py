"""Reservations hold on a whole machine: in every namespace, for every user, whatever becomes of the holder or of the files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.sandbox.cgroups import reservations
from engine.sandbox.cgroups.reservations import NotShared, reserve, shared_folder
from tests.engine.sandbox.support import ORDINARY_USER, elsewhere, worker

# In a shell, so that a namespace can be changed before the program begins.
TRY = """
import sys
from pathlib import Path
from engine.sandbox.cgroups.reservations import NotShared, reserve
try:
    held = reserve(Path(sys.argv[1]), sys.argv[2])
    print("taken" if held is None else "reserved", flush=True)
except NotShared as error:
    print(error, flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that does not exist yet, in one that every user can pass."""
    place = Path(tempfile.mkdtemp(prefix="tute-machine-"))
    place.chmod(0o755)
    yield place / "machine"
    shutil.rmtree(place)


def as_another_user(act: Callable[[], bool]) -> bool:
    """Return what `act` returns in a fork of this process, which is another user where this one is root."""
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(ORDINARY_USER)
                os.setuid(ORDINARY_USER)
            os._exit(0 if act() else 1)
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1)
    return code == 0


def test_every_user_of_a_machine_shares_the_folder(folder: Path) -> None:
    reservation = reserve(folder, "core-0")
    assert reservation is not None
    assert as_another_user(lambda: reserve(folder, "core-0") is None)
    assert as_another_user(lambda: reserve(folder, "core-1") is not None), "it may make files, too"
    reservation.release()
    assert as_another_user(lambda: reserve(folder, "core-0") is not None)
    assert reserve(folder, "core-1") is not None, "the file of another user"


def test_nobody_but_its_owner_can_remove_a_file(folder: Path) -> None:
    assert reserve(folder, "core-0") is not None
    assert folder.stat().st_mode & 0o7777 == 0o1777
    assert (folder / "core-0").stat().st_mode & 0o7777 == 0o444


def test_what_a_fork_inherits_holds_nothing_after_the_release(folder: Path) -> None:
    reservation = reserve(folder, "core-0")
    assert reservation is not None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    os.close(reader)
    reservation.release()
    reservation.release()
    try:
        assert reserve(folder, "core-0") is not None
    finally:
        os.close(writer)
        os.waitpid(child, 0)


def test_a_file_that_was_left_behind_means_nothing(folder: Path) -> None:
    folder.mkdir()
    (folder / "core-0").write_text("left by whoever")
    assert reserve(folder, "core-0") is not None


@pytest.mark.parametrize(
    "make",
    [lambda path: path.symlink_to("/etc/passwd"), lambda path: path.mkdir(), os.mkfifo],
    ids=["link", "folder", "pipe"],
)
def test_something_else_of_that_name_is_refused(folder: Path, make: Callable[[Path], None]) -> None:
    folder.mkdir()
    make(folder / "core-0")
    with pytest.raises(NotShared, match=rf"cannot reserve core-0 in {folder}: .*MACHINE_DIR"):
        reserve(folder, "core-0")


def test_a_folder_that_can_only_be_read_shares_the_files_that_are_there(folder: Path) -> None:
    reservation = reserve(folder, "core-0")
    assert reservation is not None
    reservation.release()

    def try_read_only(name: str) -> str:
        read_only = f'mount --bind "{folder}" "{folder}" && mount -o remount,bind,ro "{folder}" && exec "$@"'
        started = worker(TRY, str(folder), name, before=[*elsewhere("--mount"), "sh", "-c", read_only, "-"])
        return started.communicate(timeout=60)[0].strip()

    assert try_read_only("core-0") == "reserved"
    reservation = reserve(folder, "core-0")
    assert reservation is not None
    assert try_read_only("core-0") == "taken"
    assert "Read-only file system. Let every worker" in try_read_only("core-1")


def test_the_folder_is_the_machines_only_where_this_process_can_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container has an IPC namespace of its own, and then nothing is shared unless the operator says so."""
    program = "from engine.sandbox.cgroups.reservations import shared_folder\nprint(shared_folder(), flush=True)"
    monkeypatch.delenv(reservations.SETTING, raising=False)
    outside = os.readlink("/proc/self/ns/ipc") == "ipc:[4026531839]"  # noqa: PTH115 - not a path
    assert shared_folder() == (reservations.MEMORY if outside else None)
    assert worker(program, before=elsewhere("--ipc")).communicate(timeout=60)[0] == "None\n"
    monkeypatch.setenv(reservations.SETTING, "/somewhere")
    assert worker(program, before=elsewhere("--ipc")).communicate(timeout=60)[0] == "/somewhere\n"
