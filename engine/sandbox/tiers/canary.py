"""Test whether a tier holds on this host: start a canary bot in it, which tries to break out. Version numbers prove nothing.

A tier holds only if every attempt fails *and* the bot plays: it answers, stays idle while frozen, and is cut off when it computes for
ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.sandbox.errors import BotFault, SandboxError
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess

Start = Callable[[Path, Runtime, str, Policy], BotProcess]

_POLICY = Policy(memory_mb=128)
_SEALED = Policy(memory_mb=128, sealed=True)
_BOT, _SEALED_BOT = "canary_bot.py", "sealed_bot.py"
_ANSWER_S, _WALL_S, _BURN_S, _FROZEN_S = (
    10.0,
    30.0,
    0.05,
    0.03,
)  # The first two are generous: a busy machine is no hole.
# Less than the five waits of five seconds that a sealed bot attempts: if they waited, the answer would be late.
_LOOK_S = 20.0


@dataclass(frozen=True)
class TierReport:
    """The result of testing a tier on this host.

    isolates: the tier confines bots at all; holds: the tier may be used; reasons: why it does not hold; remedies: what to do; notes: weaknesses of
    this machine that other means cover; canaries: attempt -> contained; unsealed: why the tier seals no bot; None if it can.
    """

    name: str
    isolates: bool
    holds: bool
    reasons: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    canaries: dict[str, bool] = field(default_factory=dict)
    unsealed: str | None = None


@contextlib.contextmanager
def _listeners(directory: Path) -> Iterator[dict[str, object]]:
    """Provide targets that a canary must not reach: a world-readable file, a TCP socket and a local socket."""
    name = f"tute-canary-{os.getpid()}-{time.monotonic_ns()}"
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".canary-", dir=directory)))
        place.chmod(0o777)
        sentinel = place / "sentinel"
        sentinel.write_text("a secret of the host\n")
        sentinel.chmod(0o644)
        local = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        local.bind("\0" + name)
        local.listen()
        network = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        port = 9
        # Ignored, because in a container without even a loopback interface any port will do.
        with contextlib.suppress(OSError):
            network.bind(("127.0.0.1", 0))
            network.listen()
            port = network.getsockname()[1]
        yield {"sentinel": str(sentinel), "directory": str(place), "port": port, "listener": name}


def battery(start: Start, runtime: Runtime, state_dir: Path) -> tuple[dict[str, bool], list[str]]:
    """Run the canary. Return attempt -> contained, and a line for every attempt that was not.

    Raise SandboxError if it cannot even be started.
    """
    with _listeners(state_dir) as goal, start(Path(__file__).parent, runtime, _BOT, _POLICY) as bot:
        message = json.dumps({**goal, "worker": os.getpid(), "memory_mb": _POLICY.memory_mb}).encode()
        try:
            bot.send(message + b"\n")
            got = json.loads(bot.read_line(_ANSWER_S, _WALL_S).line)
            results = {name: what is None for name, what in got.items()}
            failures = [f"{name}: {what}" for name, what in got.items() if what is not None]
            for name, passed in _play(bot):
                results[name] = passed
                if not passed:
                    failures.append(f"{name}: failed")
        except (BotFault, ValueError) as fault:
            last_line = bot.stderr().decode(errors="replace").strip().splitlines()[-1:]
            raise SandboxError(f"the canary bot did not finish: {fault} {' '.join(last_line)}") from fault
    return results, failures


def _play(bot: BotProcess) -> Iterator[tuple[str, bool]]:
    """Yield (name, passed) for each thing that any bot must be able to do, and each that it must not."""
    bot.freeze()
    yield "play", all(bot.ask(b"card\n", _ANSWER_S, _WALL_S).line == b"card" for _ in range(3))
    bot.ask(b"spin\n", _ANSWER_S, _WALL_S)
    before = bot.cpu()
    time.sleep(_FROZEN_S)
    yield "compute while frozen", bot.cpu() - before < _FROZEN_S / 10
    try:
        bot.ask(b"burn\n", _BURN_S, 20 * _BURN_S)
    except BotFault as fault:
        yield "compute for ever", fault.kind == "timeout"
    else:
        yield "compute for ever", False


def stopped_clocks(start: Start, runtime: Runtime, stops_s: tuple[float, ...] = (2 * _FROZEN_S,)) -> list[str]:
    """Return a line for each clock from which a sealed bot could learn that it had been stopped.

    A clock may advance only by the CPU time that the bot has used. A stop is lengthened if the bot needs more CPU time than that to read its clocks.
    Raise SandboxError if it cannot be sealed.
    """
    message = json.dumps({"vsyscall": "[vsyscall]" in Path("/proc/self/maps").read_text()}).encode() + b"\n"
    failures: dict[str, str] = {}
    with start(Path(__file__).parent, runtime, _SEALED_BOT, _SEALED) as bot:
        try:
            bot.freeze()
            bot.ask(message, _LOOK_S, _LOOK_S)  # The first time everything takes longest.
            began, before = bot.cpu(), json.loads(bot.ask(message, _LOOK_S, _LOOK_S).line)
            for stop_s in stops_s:
                used = stop_s
                while used >= stop_s:  # Stop longer than the bot computed: a clock that runs on shows it.
                    stop_s = max(stop_s, 4 * (bot.cpu() - began))
                    time.sleep(stop_s)
                    since, now = bot.cpu(), json.loads(bot.ask(message, _LOOK_S, _LOOK_S).line)
                    used = bot.cpu() - began
                    for name, reading in now.items():
                        if reading is not None and (before[name] is None or abs(reading - before[name]) > used):
                            failures[name] = f"{name} went from {before[name]} to {reading} in {used:.6f} s of CPU time"
                    began, before = since, now
        except (BotFault, ValueError) as fault:
            last_line = bot.stderr().decode(errors="replace").strip().splitlines()[-1:]
            raise SandboxError(f"the sealed canary bot did not finish: {fault} {' '.join(last_line)}") from fault
    return list(failures.values())
