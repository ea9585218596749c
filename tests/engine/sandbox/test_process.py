"""Talking to a confined bot: lines, clocks, freezing, faults, ending. Real processes, in the best tier that holds."""

from __future__ import annotations

import os
import re
import resource
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.sandbox import TIERS, BotFault, BotProcess, Policy, Sandbox, SandboxError
from engine.sandbox.files import runtimes
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.process import bot as process_of_a_bot
from engine.sandbox.process import spawn, watch
from engine.sandbox.tiers import namespaces
from tests.engine.sandbox.support import StateDirectory
from tests.support import languages
from tests.support.parts import mostly_slow
from tests.support.processes import wait_for

Start = Callable[..., BotProcess]
ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"
POLICY = Policy(memory_mb=128, threads=8)


@pytest.fixture(params=mostly_slow([tier.name for tier in TIERS], "namespaces".__eq__))
def start(
    request: pytest.FixtureRequest, state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> Start:
    """Start a bot in each tier; one that does not hold here (see the report's end) is replaced by one that does."""
    tier = request.param if request.param in (*tiers_here, "none") else tiers_here[0]
    box = Sandbox(tier, state.path)

    def begin(source: str = ECHO, policy: Policy = POLICY, core: int | None = None) -> BotProcess:
        return box.start(bot(source), state.python, "bot.py", policy, core=core)

    return begin


def test_a_bot_answers_and_its_cpu_time_is_known(start: Start) -> None:
    with start() as process:
        process.send(b"play 1o\n")
        reply = process.read_line(5, 10)

    assert reply.line == b"play 1o"
    assert 0 <= reply.cpu_s < 5
    assert 0 < reply.wall_s < 10


def test_a_bot_answers_a_process_with_more_descriptors_than_select_takes(start: Start) -> None:
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(2048, usual[0]), usual[1]))
    descriptors: list[int] = []
    try:
        while not descriptors or descriptors[-1] < 1100:
            descriptors.append(os.open("/dev/null", os.O_RDONLY))
        with start() as process:
            assert process.ask(b"one\n", 5, 10).line == b"one"
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def test_a_bot_may_be_started_early_and_left_frozen(start: Start) -> None:
    with start() as process:
        process.freeze()
        process.freeze()
        before = process.cpu()
        time.sleep(0.1)
        assert process.cpu() - before < 0.002
        assert [process.ask(b"%d\n" % n, 5, 10).line for n in range(50)] == [b"%d" % n for n in range(50)]


def test_none_of_a_bots_code_runs_before_its_first_request(start: Start) -> None:
    """Not even where it is frozen late: the interpreter is loaded, and waits."""
    with start("print('at once', flush=True)\n" + ECHO) as process:
        process.stand()
        assert not select.select([process._stdout], [], [], 0.05)[0]
        process.freeze()
        assert Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"T"
        assert process.ask(b"one\n", 5, 10).line == b"at once"


def test_a_python_bot_is_the_main_program_as_if_nothing_stood_before_it(start: Start) -> None:
    source = """
import __main__, sys
from dataclasses import dataclass
@dataclass
class Card:
    points: int
def fail():
    raise ValueError("of my own")
own = __main__.__dict__ is globals() and __name__ == "__main__" and Card(1) == Card(1)
rest = sorted(name for name in globals() if name[0] != "_")
sys.stdin.readline()
print(own, rest, sys.argv == [__file__], sys.path[0] == __file__.rpartition("/")[0], __doc__, flush=True)
fail()
"""
    with start(source) as process:
        process.send(b"x\n")
        line = process.read_line(5, 10).line.decode()
        with pytest.raises(BotFault, match="exit status 1"):
            process.read_line(5, 10)
        trace = process.stderr().decode()

    assert line == "True ['Card', 'dataclass', 'fail', 'own', 'sys'] True True None"
    assert trace.count("File ") == 2
    assert "gate" not in trace
    assert trace.endswith("ValueError: of my own\n")


def test_a_python_bot_is_compiled_as_python_does(start: Start) -> None:
    source = """
# -*- coding: latin-1 -*-
import sys
from types import CodeType
class Seat:
    points = property(lambda self: [card for card in "\u00e1s"])
    async def ask(self):
        yield (lambda: 1 is 1)
def parts(code):
    return [code, *(part for inner in code.co_consts if isinstance(inner, CodeType) for part in parts(inner))]
own, again = sys._getframe().f_code, compile(open(__file__, "rb").read(), __file__, "exec")
sys.stdin.readline()
print(own == again, len(parts(own)) > 5, {part.co_filename for part in parts(own)} == {__file__}, sys.gettrace(), flush=True)
"""
    with start(source) as process:
        process.send(b"x\n")
        line = process.read_line(5, 10).line.decode()
        warned = process.stderr().decode()

    assert line == "True True True None"
    assert re.findall(r"(\S+)/bot\.py:(\d+): SyntaxWarning", warned)[0][1] == "8"
    assert "<string>" not in warned


def test_a_python_bot_that_cannot_be_compiled_is_told_where(start: Start) -> None:
    with start("import sys\nif sys\n    pass\n") as process, pytest.raises(BotFault, match="exit status 1"):
        process.ask(b"x\n", 5, 10)

    log = process.stderr().decode()
    assert re.search(r'File "\S*/bot\.py", line 2\n    if sys\n', log)
    assert "gate" not in log
    assert "Traceback" not in log


def test_a_request_longer_than_the_pipe_arrives_whole(start: Start) -> None:
    long = b"x" * 500_000
    with start("import sys\nfor line in sys.stdin:\n    print(len(line), flush=True)\n") as process:
        process.freeze()
        assert process.ask(long + b"\n", 5, 10).line == b"500001"
        process.thaw()
        process.send(long + b"\n", deadline=10)
        assert process.read_line(5, 10).line == b"500001"


def test_a_bot_that_does_not_read_is_not_waited_for(start: Start) -> None:
    with start("import time\ntime.sleep(60)\n") as process, pytest.raises(BotFault) as caught:
        process.send(b"x" * 1_000_000, deadline=0.2)

    assert str(caught.value) == "timeout: did not read its input within 0.2 s"


def test_output_nobody_asked_for_is_a_protocol_fault(start: Start) -> None:
    with start("print('hello', flush=True)\n" + ECHO) as process:
        process.begin()
        wait_for(lambda: select.select([process._stdout], [], [], 0)[0], "its output", 60)
        with pytest.raises(BotFault) as caught:
            process.send(b"x\n")

    assert str(caught.value) == "protocol: printed 'hello\\n' although nothing was asked"


def test_working_while_frozen_is_pondering(start: Start) -> None:
    """The kernel does not let it happen, so the clock is set on by hand: woken from outside, it computes."""
    with start("import sys\nsys.stdin.readline()\nprint(1, flush=True)\nwhile True: pass\n") as process:
        process.send(b"x\n")
        process.read_line(5, 10)
        process.freeze()
        before = process.cpu()
        os.kill(process.pid, 18)
        while process.cpu() - before < 0.1:
            time.sleep(0.01)
        with pytest.raises(BotFault, match=r"pondering: used .* ms of CPU while it was frozen"):
            process.thaw()


def test_error_output_is_kept_in_bounds(start: Start) -> None:
    noisy = "import sys\nsys.stderr.write('begin ' + 'x' * 5_000_000 + ' end')\nsys.stderr.flush()\n" + ECHO
    with start(noisy) as process:
        process.send(b"x\n")
        process.read_line(5, 10)
        output = process.stderr()

    assert len(output) <= 16 * 1024
    assert output.startswith(b"begin ")
    assert output.endswith(b" end")


def test_the_core_is_the_one_told(start: Start) -> None:
    core = max(os.sched_getaffinity(0))
    with start(core=core) as process:
        assert os.sched_getaffinity(process.pid) == {core}


def test_close_may_be_repeated_and_leaves_nothing(start: Start) -> None:
    process = start()
    pid = process.pid
    process.close()
    process.close()

    assert not Path(f"/proc/{pid}").exists()
    assert process.cpu() > 0
    assert process.stderr() == b""


def test_a_bot_outlives_the_thread_that_started_it(start: Start) -> None:
    """PR_SET_PDEATHSIG is per thread; here every thread is short-lived."""
    started: list[BotProcess] = []
    thread = threading.Thread(target=lambda: started.append(start()))
    thread.start()
    thread.join()
    time.sleep(0.2)

    with started[0] as process:
        process.send(b"still here\n")
        assert process.read_line(5, 10).line == b"still here"


def test_a_bot_whose_end_takes_long_has_crashed_and_not_closed_its_output(start: Start) -> None:
    """A busy machine, here: the process that collects it does not run for a second."""
    with start("import sys\nsys.stdin.readline()\nsys.exit(3)\n") as process:
        forkserver = spawn.ready()
        os.kill(forkserver, signal.SIGSTOP)
        threading.Timer(1, os.kill, (forkserver, signal.SIGCONT)).start()
        process.send(b"x\n")
        with pytest.raises(BotFault) as caught:
            process.read_line(5, 10)

    assert str(caught.value) == "crash: ended by exit status 3"


ENDS = {
    "os._exit(137)": "exit status 137",
    "os._exit(159)": "exit status 159",
    "os._exit(0)": "exit status 0",
    "os.kill(os.getpid(), signal.SIGSEGV); ctypes.string_at(0)": "signal SIGSEGV",
    "sys.stderr.write('bwrap: execvp bot: Exec format error\\n'); sys.stderr.flush(); os._exit(1)": "exit status 1",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("moment", ["at its start", "when it is asked"])
def test_an_end_is_read_from_the_bot_itself(start: Start, end: str, moment: str) -> None:
    """A wrapper reports status 137 and SIGKILL in the same byte, and a bot's output is not the wrapper's."""
    first_line = "sys.stdin.readline()\n" if moment == "when it is asked" else ""
    with start(f"import ctypes, os, signal, sys\n{first_line}{end}\n") as process, pytest.raises(BotFault) as caught:
        process.ask(b"x\n", 5, 10)

    assert str(caught.value) == f"crash: ended by {ENDS[end]}"


def test_a_bot_without_its_first_thread_has_crashed(start: Start) -> None:
    """Its memory could not be read any more."""
    code = (
        "import ctypes, sys, threading, time\n"
        "def go_on():\n    time.sleep(0.2)\n    for line in sys.stdin: print(line, end='', flush=True)\n"
        f"threading.Thread(target=go_on).start()\nctypes.CDLL(None).syscall({this_architecture().numbers['exit']}, 0)\n"
    )

    def goes_on(process: BotProcess) -> bool:
        process.ask(b"x\n", 5, 10)
        return False

    with start(code) as process, pytest.raises(BotFault) as caught:
        wait_for(lambda: goes_on(process), "a look at its threads", 60)

    assert str(caught.value) == "crash: ended its first thread and continued without it"


@pytest.mark.parametrize("timeless", [False, True], ids=["pipe", "socket"])
def test_who_has_not_run_since_the_request_is_not_blamed_for_silence(
    timeless: bool, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine stands still, here one bot, for longer than a bot may wait for its next line."""
    launch = namespaces.launch
    monkeypatch.setattr(namespaces, "launch", lambda plan, **how: launch(plan, **how | {"timeless": timeless}))
    monkeypatch.setattr(process_of_a_bot, "_SILENT_S", 0.2)
    with start() as process:
        assert process.ask(b"one\n", 5, 10).line == b"one"
        process.thaw()
        wait_for(lambda: watch.reads_input(process.pid), "a bot that waits for its next line", 60)
        os.kill(process.pid, signal.SIGSTOP)
        wait_for(lambda: watch.all_stopped(process.pid), "a bot that stands still", 60)
        threading.Timer(1, os.kill, (process.pid, signal.SIGCONT)).start()
        process.send(b"two\n")
        assert process.read_line(5, 10).line == b"two"


def test_an_entry_may_bear_the_name_of_the_wrapper(
    state: StateDirectory, tmp_path: Path, tiers_here: list[str]
) -> None:
    """An honest author can hit on it; what tells the two apart is the file, not its name."""
    source = tmp_path / "bot.c"
    source.write_text("#include <unistd.h>\nint main(void) { char c; while (read(0, &c, 1) > 0) write(1, &c, 1); }\n")
    (tmp_path / "bot").mkdir()
    subprocess.run([languages.find("cc"), "-static", "-o", str(tmp_path / "bot/bwrap"), str(source)], check=True)
    for tier in tiers_here:
        with Sandbox(tier, state.path).start(tmp_path / "bot", runtimes.binary(state.path), "bwrap", POLICY) as process:
            assert process.ask(b"play 1o\n", 5, 10).line == b"play 1o", tier


def test_an_uncaught_memory_error_is_called_by_its_name(start: Start) -> None:
    with (
        start("hoard = []\nwhile True: hoard.append(bytearray(1 << 22))\n") as process,
        pytest.raises(BotFault) as caught,
    ):
        process.read_line(5, 10)

    assert caught.value.kind == "memory"
    assert "MemoryError (limit 128 MiB)" in caught.value.detail


def test_an_entry_that_is_not_there_is_not_started(start: Start, state: StateDirectory, tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "outside.py").touch()
    box = Sandbox("none", state.path)
    (tmp_path / "bot/deep").mkdir()
    (tmp_path / "bot/deep/inside.py").touch()
    (tmp_path / "bot/link.py").symlink_to(tmp_path / "outside.py")
    for entry in ("missing.py", "../outside.py", "/deep/inside.py", "link.py", "deep", "nul\0.py"):
        with pytest.raises(SandboxError, match=f"has no file {entry}"):
            box.start(tmp_path / "bot", state.python, entry, POLICY)


def test_threads_that_keep_one_another_waiting_do_not_excuse_one_that_does_not_stop(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six threads on one core wait five sixths of the time, each for the others: nobody else has kept this bot from a processor."""
    code = (
        "import sys, threading\ndef busy():\n    while True: pass\n"
        "for _ in range(6): threading.Thread(target=busy, daemon=True).start()\n" + ECHO
    )
    monkeypatch.setattr(process_of_a_bot, "_STOP_S", 0.5)
    core = max(os.sched_getaffinity(0))
    with Sandbox(tiers_here[0], state.path).start(bot(code), state.python, "bot.py", POLICY, core=core) as process:
        process.send(b"x\n")
        assert process.read_line(5, 60).line == b"x"
        monkeypatch.setattr(process, "_signal", lambda number: None)  # As if no signal arrived
        waits = watch.Waits(process.pid)
        with pytest.raises((BotFault, SandboxError)) as caught:
            process.freeze()
        kept_by_others = waits.seconds()
        monkeypatch.undo()

    assert isinstance(caught.value, BotFault) or kept_by_others > 0.2, caught.value
