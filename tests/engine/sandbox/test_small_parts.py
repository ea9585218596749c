"""Policy, tail, death and ELF reading: the parts that need no process."""

from __future__ import annotations

import os
import resource
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.sandbox import BotFault, Policy, SandboxError
from engine.sandbox.errors import BrokenOff
from engine.sandbox.files import elf
from engine.sandbox.process import watch
from engine.sandbox.process.death import End, fault
from engine.sandbox.process.tail import Tail
from engine.sandbox.tiers import choosing, sealed_bot

POLICY = Policy(memory_mb=256, cpu_s=10)


@pytest.mark.parametrize("wrong", [{"memory_mb": 0}, {"memory_mb": 1.5}, {"threads": -1}, {"open_files": 3}])
def test_a_policy_refuses_what_cannot_work(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"policy {next(iter(wrong))}=.*expected a whole number of at least"):
        Policy(**wrong)


def test_limits_of_a_policy() -> None:
    limits = {number: (soft, hard) for number, soft, hard in POLICY.limits(processes=17)}

    assert limits[resource.RLIMIT_DATA] == (256 << 20, 256 << 20)
    assert limits[resource.RLIMIT_AS] == (1280 << 20, 1280 << 20)
    assert limits[resource.RLIMIT_CPU] == (10, 11)
    assert limits[resource.RLIMIT_NPROC] == (17, 17)
    assert limits[resource.RLIMIT_FSIZE] == limits[resource.RLIMIT_CORE] == (0, 0)
    assert resource.RLIMIT_NPROC not in {number for number, *_ in POLICY.limits(processes=None)}


def test_a_tail_keeps_both_ends_in_fixed_space() -> None:
    tail = Tail(1024)
    for number in range(10_000):
        tail.feed(b"%d\n" % number)

    content = tail.value()
    assert len(content) <= 1024
    assert content.startswith(b"0\n1\n2\n")
    assert b"\n[...]\n" in content
    assert content.endswith(b"9998\n9999\n")


def test_a_tail_keeps_a_short_text_whole() -> None:
    tail = Tail(1024)
    tail.feed(b"a" * 500)
    tail.feed(b"b" * 500)

    assert tail.value() == b"a" * 500 + b"b" * 500


@pytest.mark.parametrize(
    ("end", "kind", "detail"),
    [
        (End(3, 1000, 0.1, b""), "crash", "ended by exit status 3"),
        (End(-11, 1000, 0.1, b""), "crash", "ended by signal SIGSEGV"),
        (
            End(1, 1000, 0.1, b"Traceback\nMemoryError\n"),
            "memory",
            "ended by exit status 1: MemoryError (limit 256 MiB)",
        ),
        (
            End(-6, 1000, 0.1, b"memory allocation of 99 bytes failed\n"),
            "memory",
            "memory allocation of 99 bytes failed",
        ),
        (End(-11, 250 << 10, 0.1, b""), "memory", "ended by signal SIGSEGV: it held 250 MiB (limit 256 MiB)"),
        (End(1, 1000, 0.1, b"NotMemoryError\n"), "crash", "ended by exit status 1"),
        (End(-24, 1000, 10.1, b""), "timeout", "used 10.1 s of CPU in all (limit 10 s)"),
        (End(-9, 1000, 11.0, b""), "timeout", "used 11.0 s of CPU in all (limit 10 s)"),
        (End(-31, 1000, 0.1, b""), "crash", "signal SIGSYS: a system call of another machine"),
    ],
)
def test_the_fault_of_an_end(end: End, kind: str, detail: str) -> None:
    result = fault(end, POLICY)

    assert (result.kind, detail in result.detail) == (kind, True), result.detail


def test_an_end_is_ours_only_where_something_shows_it() -> None:
    unexplained = End(-9, 1000, 0.1, b"")
    assert str(fault(unexplained, POLICY)) == "crash: ended by signal SIGKILL"

    with pytest.raises(BrokenOff, match="for lack of memory on the host"):
        fault(replace(unexplained, host_was_full=True), POLICY)
    with pytest.raises(SandboxError, match="the forkserver was killed from outside"):
        fault(replace(unexplained, lost_with="the forkserver"), POLICY)


@pytest.mark.parametrize("code", [0, 137, 159, -6])
def test_memory_that_the_host_lacked_excuses_no_end_but_a_kill(code: int) -> None:
    assert fault(End(code, 1000, 0.1, b"", host_was_full=True), POLICY).kind == "crash"


def test_the_kernel_counts_its_kills_for_memory() -> None:
    counted = next(line for line in Path("/proc/vmstat").read_text().splitlines() if line.startswith("oom_kill "))

    assert watch.memory_kills() >= int(counted.split()[1]) >= 0


def test_faults_have_known_kinds() -> None:
    with pytest.raises(ValueError, match="fault kind 'sulking' is unknown; expected one of"):
        BotFault("sulking", "")


def test_the_interpreter_is_dynamic_and_its_libraries_are_found() -> None:
    program = Path(sys.executable).resolve()
    loader = elf.loader_of(program)

    assert loader is not None
    assert loader.is_file()
    assert any(name.startswith("libc.") for name in elf.libraries_of(loader, program))
    assert "dynamically linked" in str(elf.why_not_static(program))


@pytest.mark.parametrize(
    "content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(58), b"\x7fELF\x02\x01" + bytes(58)]
)
def test_what_is_no_static_executable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)

    assert elf.why_not_static(path)


def test_a_loader_whose_name_lies_outside_the_file_is_damage(tmp_path: Path) -> None:
    header = struct.pack("<6s10xHHIQQQIHHHHHH", b"\x7fELF\x02\x01", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    path = tmp_path / "file"
    path.write_bytes(header + struct.pack("<IIQQQQQQ", 3, 4, 1 << 63, 0, 0, 1 << 63, 0, 0))

    with pytest.raises(SandboxError, match="is damaged: the name of its loader lies outside the file"):
        elf.loader_of(path)


def test_a_look_that_a_busy_machine_broke_off_leaves_nobody_unsealed() -> None:
    """Each look takes the next of these results."""

    def looks(*results: list[str] | SandboxError) -> Callable[[], list[str]]:
        coming = iter(results)

        def look() -> list[str]:
            item = next(coming)
            if isinstance(item, SandboxError):
                raise item
            return item

        return look

    slow = SandboxError("the sealed canary bot did not finish")
    assert choosing.proved(looks([])) is None
    assert choosing.proved(looks(slow, ["a clock"], [])) is None
    assert choosing.proved(looks(["a clock"], slow, ["a clock", "another"])) == "a clock; another"
    assert choosing.proved(looks(["a clock"], ["a clock"], slow)) == str(slow)


def test_files_copied_at_different_moments_are_no_clock_but_times_of_reading_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image whose files were unpacked over a tick of the clock sealed no bot."""
    monkeypatch.setattr(sealed_bot, "HERE", tmp_path)
    later, earlier = 2_145_916_800, 1_600_000_000
    for name, read in (("first", later), ("second", later + 4), ("third", earlier)):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (read, 1_700_000_000))

    assert [sealed_bot.first_read(name) for name in ("first", "second")] == [None, None]
    changes = not os.statvfs(tmp_path).f_flag & os.ST_NOATIME
    assert (sealed_bot.first_read("third") is not None) == changes
