"""Sealed bots: no clock of the host reaches them, in any tier that seals, and nothing else of them changes."""

from __future__ import annotations

import dataclasses
import functools
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.sandbox import BotFault, Policy, Sandbox, SandboxError, SandboxUnavailable, TierReport
from engine.sandbox.cgroups import attest
from engine.sandbox.files import runtimes
from engine.sandbox.kernel import bpf
from engine.sandbox.kernel import filter as call_filter
from engine.sandbox.sealed import calls, host, vdso
from engine.sandbox.sealed.listing import assemble
from engine.sandbox.sealed.program import CannotSeal, sealed
from engine.sandbox.tiers.canary import stopped_clocks
from engine.sandbox.tiers.choosing import start
from tests.engine.sandbox.support import StateDirectory

SEALED = Policy(memory_mb=128, sealed=True)
EVALUATE = "import ctypes, os, sys\nfor line in sys.stdin:\n    print(eval(line), flush=True)\n"
WAIT_S = 10.0
BASE = 0x400000
# A program in machine code. It answers each line by the number of clocks that told it anything; an empty line ends it in a fault.
STATIC = """
start:
    48 81 ec 00 01 00 00     ; sub rsp, 256
next:
    31 c0                    ; xor eax, eax       read
    31 ff                    ; xor edi, edi
    48 89 e6                 ; mov rsi, rsp
    ba 40 00 00 00           ; mov edx, 64
    0f 05                    ; syscall
    83 f8 01                 ; cmp eax, 1
    74 >fault                ; je fault
    bb 30 00 00 00           ; mov ebx, "0"
    0f 31                    ; rdtsc
    09 d0                    ; or eax, edx
    74 >second               ; jz second
    ff c3                    ; inc ebx
second:
    0f 01 f9                 ; rdtscp
    09 d0                    ; or eax, edx
    09 c8                    ; or eax, ecx
    74 >third                ; jz third
    ff c3                    ; inc ebx
third:
    b8 e4 00 00 00           ; mov eax, 228       clock_gettime
    bf 01 00 00 00           ; mov edi, 1         CLOCK_MONOTONIC
    48 8d 74 24 40           ; lea rsi, [rsp+64]
    0f 05                    ; syscall
    85 c0                    ; test eax, eax
    75 >answer               ; jnz answer
    ff c3                    ; inc ebx
answer:
    88 1c 24                 ; mov [rsp], bl
    c6 44 24 01 0a           ; mov byte [rsp+1], 10
    b8 01 00 00 00           ; mov eax, 1         write
    bf 01 00 00 00           ; mov edi, 1
    48 89 e6                 ; mov rsi, rsp
    ba 02 00 00 00           ; mov edx, 2
    0f 05                    ; syscall
    eb >next                 ; jmp next
fault:
    c7 04 25 00 00 00 00 00 00 00 00  ; mov dword [0], 0
"""


@pytest.fixture(scope="session")
def sealing(state: StateDirectory) -> list[str]:
    """Return the tiers that seal bots for the present user; that none does is a failure where the processor is the right one."""
    tiers = [report.name for report in state.reports.values() if report.isolates and report.unsealed is None]
    assert tiers, state.reports
    return tiers


def test_stops_of_any_length_show_on_no_clock(state: StateDirectory, sealing: list[str]) -> None:
    errors = {tier: stopped_clocks(functools.partial(start, tier), state.python, (0.06, 0.12)) for tier in sealing}

    assert errors == {tier: [] for tier in sealing}


def test_an_ordinary_user_seals_behind_bubblewrap_and_is_told_why_not_elsewhere(state: StateDirectory) -> None:
    reports = {
        fields["name"]: TierReport(**fields) for fields in state.as_ordinary_user("tests.engine.sandbox.say_tiers")
    }

    for name, report in reports.items():
        if name == "namespaces" and report.holds:
            assert report.unsealed is None
        else:
            assert report.unsealed


def without(*names: str) -> bytes:
    """Return the filter of sealed bots with some calls left open."""
    numbers = calls.this_architecture().numbers
    steps = bpf.load_number()
    for name, body in calls._bodies().items():
        if name not in names:
            steps += bpf.if_equal(numbers[name], body)
    return bpf.encode(steps + bpf.verdict(bpf.ALLOW))


HOLES = {
    "clock 1 by its call": "clock_gettime",
    "gettimeofday by its call": "gettimeofday",
    "times": "times",
    "another thread": "clone",
}


def test_the_canary_sees_every_call_that_is_left_open(
    state: StateDirectory, sealing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    leaky = without(*HOLES.values())
    monkeypatch.setattr(calls, "build", lambda **_: leaky)
    monkeypatch.setattr(host, "_cached_copy", host._cached_copy.__wrapped__)

    errors = stopped_clocks(functools.partial(start, sealing[0]), state.python, (0.06,))

    assert {line.partition(" went ")[0] for line in errors} >= HOLES.keys()


def static(*entries: tuple[int, ...]) -> bytes:
    """Return the program, with these entries of its table before the one that loads it."""
    code, _ = assemble(STATIC, {}, {})
    count = len(entries) + 1
    at = 64 + 56 * count
    size = at + len(code)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, BASE + at, 64, 0, 0, 64, 56, count, 64, 0, 0)
    table = [*entries, (1, 5, 0, BASE, BASE, size, size, 4096)]
    return header + b"".join(struct.pack("<IIQQQQQQ", *entry) for entry in table) + code


def test_a_static_program_finds_clocks_and_sealed_finds_none(
    state: StateDirectory, sealing: list[str], tmp_path: Path
) -> None:
    (tmp_path / "player").write_bytes(static())
    (tmp_path / "player").chmod(0o755)
    tmp_path.chmod(0o755)
    lines = {}

    for tier in sealing:
        for policy in (dataclasses.replace(SEALED, sealed=False), SEALED):
            with start(tier, tmp_path, runtimes.binary(state.path), "player", policy) as bot:
                bot.freeze()
                lines[tier, policy.sealed] = [bot.ask(b"look\n", WAIT_S, WAIT_S).line for _ in range(2)]
                with pytest.raises(BotFault, match="SIGSEGV"):
                    bot.ask(b"\n", WAIT_S, WAIT_S)

    assert lines == {(tier, sealed): [b"0" if sealed else b"3"] * 2 for tier in sealing for sealed in (False, True)}


def test_a_copy_keeps_all_of_the_program_and_tells_where_its_table_is() -> None:
    original = static((6, 4, 64, BASE + 64, BASE + 64, 112, 112, 8))

    copy = sealed(original, (-0x4000, 0x6000))

    begin, table = struct.unpack_from("<QQ", copy, 24)
    size, count = struct.unpack_from("<HH", copy, 54)
    entries = [struct.unpack_from("<IIQQQQQQ", copy, table + size * index) for index in range(count)]
    (_, _, offset, address, *_), loaded, ours = entries
    assert copy[64 : len(original)] == original[64:]
    assert (offset, address) == (table, table + BASE)
    assert loaded == struct.unpack_from("<IIQQQQQQ", original, 120)
    assert ours[3] <= begin < ours[3] + ours[5]
    assert vdso.image() in copy
    assert calls.build() in copy


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (static()[:64] + struct.pack("<I", 4) + static()[68:], "has no loadable segment"),
        (static((1, 5, 0, 2**64 - 4096, 0, 4096, 8192, 4096)), "has segments at impossible addresses"),
        (static() + bytes(64 << 20), "has .* bytes; programs of sealed bots are limited to 64 MiB"),
    ],
)
def test_a_program_that_no_segment_can_be_added_to_is_refused(program: bytes, reason: str) -> None:
    with pytest.raises(CannotSeal, match=reason):
        sealed(program, (-0x4000, 0x6000))


def test_a_bot_whose_program_cannot_be_sealed_is_told_so(
    state: StateDirectory, sealing: list[str], tmp_path: Path
) -> None:
    (tmp_path / "player").write_bytes(static((1, 5, 0, 2**64 - 4096, 0, 4096, 8192, 4096)))
    tmp_path.chmod(0o755)

    with pytest.raises(BotFault, match="player cannot be sealed: it has segments at impossible addresses"):
        start(sealing[0], tmp_path, runtimes.binary(state.path), "player", SEALED)


def test_a_bot_that_does_not_seal_itself_never_begins(
    state: StateDirectory, sealing: list[str], bot: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    allows = allowing(call_filter.build())
    monkeypatch.setattr(call_filter, "build", lambda **_: allows)
    monkeypatch.setattr(attest, "_SEALING_S", 0.5)

    for tier in sealing:
        with pytest.raises(SandboxError, match=r"a bot did not seal itself within 0\.5 s"):
            start(tier, bot("print('begun')"), state.python, "bot.py", SEALED)


def allowing(ordinary: call_filter.Filter) -> call_filter.Filter:
    """Return the filter of unsealed bots that lets their program begin from a descriptor, as a sealed one's does."""
    number = call_filter.this_architecture().numbers["execveat"]
    first = bpf.encode(bpf.load_number() + bpf.if_equal(number, bpf.verdict(bpf.ALLOW)))
    return call_filter.Filter(first + ordinary.code, tuple(at + len(first) for at in ordinary.pid_at))


def test_what_cannot_be_sealed_is_refused_with_the_reason(
    state: StateDirectory, sealing: list[str], bot: Callable[[str], Path]
) -> None:
    threaded = dataclasses.replace(state.python, name="node", sealable=False)

    for tier in sealing:
        with pytest.raises(SandboxUnavailable, match="node needs threads"):
            start(tier, bot(EVALUATE), threaded, "bot.py", SEALED)
    with pytest.raises(SandboxUnavailable, match="no bot is sealed in the tier none: it confines nothing"):
        start("none", bot(EVALUATE), state.python, "bot.py", SEALED)


def test_a_sealed_bot_says_that_a_thread_is_refused_and_ends_by_its_own_faults(
    state: StateDirectory, sealing: list[str], bot: Callable[[str], Path]
) -> None:
    here = bot(EVALUATE)
    ends = {
        b"__import__('threading').Thread(target=int).start()\n": r"^crash: ended by exit status 1$",
        b"ctypes.string_at(0)\n": r"^crash: ended by signal SIGSEGV$",
        b"os.close(0) or os.close(1)\n": r"^disconnect: closed its output$|^crash: ended by exit status",
        b"any(iter(int, 1))\n": r"^timeout: used",
    }

    for tier in sealing:
        for line, message in ends.items():
            with start(tier, here, state.python, "bot.py", SEALED) as process:
                process.freeze()
                assert process.ask(b"6 * 7\n", WAIT_S, WAIT_S).line == b"42"
                with pytest.raises(BotFault) as fault:
                    process.ask(line, 0.5, WAIT_S)
                assert re.search(message, str(fault.value))
                if b"threading" in line:
                    assert b"can't start new thread" in process.stderr()


RAW_CLOCK = "[ctypes.CDLL(None).syscall(228, number, ctypes.create_string_buffer(16)) for number in (2, 3)]"
# Sets a handler of its own for SIGSEGV, on a stack of its own, and reads the counter: rdtsc; shl rdx, 32; or rax, rdx; ret.
COUNTER = (
    "__import__('faulthandler').enable() or ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer("
    "[code := __import__('mmap').mmap(-1, 4096, 34, 7), code.write(bytes.fromhex('0f3148c1e2204809d0c3'))][0])))()"
)


def test_a_sealed_bot_has_no_exact_clock_and_keeps_our_answer_for_the_counter(
    state: StateDirectory, sealing: list[str], bot: Callable[[str], Path]
) -> None:
    for tier in sealing:
        with start(tier, bot(EVALUATE), state.python, "bot.py", SEALED) as process:
            process.freeze()
            assert process.ask(f"{RAW_CLOCK}\n".encode(), WAIT_S, WAIT_S).line == b"[0, -1]"
            assert process.ask(b"__import__('time').thread_time() < 10\n", WAIT_S, WAIT_S).line == b"True"
            assert process.ask(f"{COUNTER}\n".encode(), WAIT_S, WAIT_S).line == b"0"


def test_a_program_of_go_is_sealed_only_where_threads_have_numbers_of_its_own(
    state: StateDirectory, sealing: list[str], tmp_path: Path
) -> None:
    (tmp_path / "player").write_bytes(static() + b"\xff Go buildinf:")
    (tmp_path / "player").chmod(0o755)
    tmp_path.chmod(0o755)

    for tier in sealing:
        box = Sandbox(tier, state.path)
        reason = box.why_unsealed(runtimes.binary(state.path), tmp_path / "player")
        if tier == "namespaces":
            assert reason is None
            with start(tier, tmp_path, runtimes.binary(state.path), "player", SEALED) as process:
                assert process.ask(b"look\n", WAIT_S, WAIT_S).line == b"0"
        else:
            with pytest.raises(SandboxUnavailable, match="player was made by Go, which needs threads") as refused:
                start(tier, tmp_path, runtimes.binary(state.path), "player", SEALED)
            assert reason == str(refused.value)


def test_a_long_request_reaches_a_sealed_bot_and_one_that_hears_no_more_is_told_so(
    state: StateDirectory, sealing: list[str], bot: Callable[[str], Path]
) -> None:
    for tier in sealing:
        with start(tier, bot(EVALUATE), state.python, "bot.py", SEALED) as process:
            process.freeze()
            assert process.ask(b"len('" + b"x" * 500_000 + b"')\n", WAIT_S, WAIT_S).line == b"500000"
            assert (
                process.ask(b"[os.fstat(fd).st_mtime for fd in (0, 1, 2)]\n", WAIT_S, WAIT_S).line == b"[0.0, 0.0, 0.0]"
            )
            process.ask(b"os.close(0)\n", WAIT_S, WAIT_S)
            with pytest.raises(BotFault):
                process.ask(b"1\n", WAIT_S, WAIT_S)
