"""The unpacked trees that stay on the disk."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.sandbox.files import inventory, keeping

HOLD = """import sys, pathlib
from engine.sandbox.files import keeping
keeping.use(pathlib.Path(sys.argv[1]))
print(flush=True)
sys.stdin.read()"""
Make = Callable[[str], Path]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Yield a function that makes a tree of a kilobyte, last used at the time in its name, in seconds."""

    def tree(name: str) -> Path:
        work = tmp_path / f".{name}-work"
        (work / "bot").mkdir(parents=True)
        (work / "file").write_bytes(bytes(1000))
        root = inventory.install(work, tmp_path / name)
        note = inventory.place(root)
        os.utime(note, ns=(int(name) * 10**9, note.stat().st_mtime_ns))
        return root

    yield tree
    keeping.release(tmp_path, before=time.monotonic())


def test_those_used_longest_ago_go_first_until_the_rest_is_small_enough(tmp_path: Path, make: Make) -> None:
    for name in ("3", "1", "2"):
        make(name)

    assert keeping.prune(tmp_path, 3000) == []
    assert keeping.prune(tmp_path, 2999) == ["1"]
    keeping.use(tmp_path / "2")  # Now the other one was used longer ago
    assert keeping.prune(tmp_path, 1000) == ["3"]

    assert sorted(path.name for path in tmp_path.iterdir()) == [".2.inventory", "2"]


def test_looking_at_trees_does_not_change_when_they_were_used(tmp_path: Path, make: Make) -> None:
    notes = [inventory.place(make(name)) for name in ("2", "1")]

    keeping.prune(tmp_path, 2000)

    assert [note.stat().st_atime for note in notes] == [2, 1]


def test_what_is_used_stays_until_it_is_let_go(tmp_path: Path, make: Make) -> None:
    first, second = make("1"), make("2")
    keeping.use(first)
    between = time.monotonic()
    keeping.use(second)

    assert keeping.prune(tmp_path, 0) == []
    keeping.release(tmp_path, before=between)
    assert keeping.prune(tmp_path, 0) == ["1"]
    with pytest.raises(FileNotFoundError):
        keeping.use(first)


def test_threads_that_use_one_tree_at_once_hold_it_once(tmp_path: Path, make: Make) -> None:
    root = make("1")
    gate = threading.Barrier(8)

    def use(_: int) -> None:
        gate.wait()
        keeping.use(root)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))

    keeping.release(tmp_path, before=time.monotonic())
    assert keeping.prune(tmp_path, 0) == ["1"]


def test_what_another_process_uses_stays_until_that_dies(tmp_path: Path, make: Make) -> None:
    root = make("1")
    with subprocess.Popen([sys.executable, "-c", HOLD, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert keeping.prune(tmp_path, 0) == []
        other.kill()
    assert keeping.prune(tmp_path, 0) == ["1"]


def test_a_runtime_in_which_bots_of_another_kernel_may_live_stays(tmp_path: Path, make: Make) -> None:
    root = make("1")
    (root / "bot" / "live").mkdir()

    assert keeping.prune(tmp_path, 0, copies="bot") == []
    (root / "bot" / "live").rmdir()
    assert keeping.prune(tmp_path, 0, copies="bot") == ["1"]


def test_a_tree_that_was_deleted_by_hand_and_made_again_is_held_anew(tmp_path: Path, make: Make) -> None:
    keeping.use(make("1"))
    (tmp_path / "1").rename(tmp_path / ".away")
    keeping.use(make("1"))

    assert keeping.prune(tmp_path, 0) == []


def test_what_killed_processes_have_left_goes_after_a_day(tmp_path: Path) -> None:
    for name, days in ((".unpack-old", 2), (".unpack-new", 0)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, time.time() - days * 86400))

    keeping.prune(tmp_path, 0)

    assert [path.name for path in tmp_path.iterdir()] == [".unpack-new"]
