"""Play one hostile bot in one tier and say what came of it. Also a program, so that an ordinary user can be tried.

As a program: arena.py STATE_DIR TIER, attack names one a line on stdin, one JSON outcome a line on stdout.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from engine.sandbox import BotFault, Policy, Runtime
from engine.sandbox.cgroups import slots
from engine.sandbox.files import runtimes
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.tiers import choosing
from tests.hostile import traces
from tests.hostile.attacks import ATTACKS, Attack

START_CPU_S, START_WALL_S = 2.0, 8.0  # until the first line of an attack that does answer; loaded machines are slow
PROLOGUE = (Path(__file__).parent / "prologue.txt").read_text()


@dataclasses.dataclass
class Outcome:
    """The result of an attack.

    fault, detail: as BotFault, or None when the bot played on; got: what the attack obtained; remains: traces it left
    behind, which must be none; cpu_s: CPU it was charged; stderr_bytes: how much was kept.
    """

    fault: str | None = None
    detail: str = ""
    got: list[str] = dataclasses.field(default_factory=list)
    remains: list[str] = dataclasses.field(default_factory=list)
    cpu_s: float = 0.0
    frozen_cpu_s: float = 0.0
    stderr: str = ""
    stderr_bytes: int = 0


class Surroundings:
    """The files and processes that a bot must neither reach nor change."""

    def __init__(self, directory: Path) -> None:
        directory.chmod(0o777)
        self.directory = directory
        self.sentinel = directory / "sentinel"
        self.sentinel.write_text("a secret of the host\n")
        self.sentinel.chmod(0o644)
        self.name = f"tute-hostile-{os.getpid()}-{time.monotonic_ns()}"
        self.local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.local.bind("\0" + self.name)
        self.packets = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.packets.bind("\0" + self.name + "-packets")
        self.network = socket.create_server(("127.0.0.1", 0))
        self.local.listen()
        for listener in (self.local, self.packets, self.network):
            listener.setblocking(False)

    def goal(self, policy: Policy) -> dict[str, object]:
        """Return what the bot is given to know, so that it can do its worst."""
        return {
            "sentinel": str(self.sentinel),
            "directory": str(self.directory),
            "worker": os.getpid(),
            "port": self.network.getsockname()[1],
            "listener": self.name,
            "memory_mb": policy.memory_mb,
            "threads": policy.threads,
            "numbers": dict(this_architecture().numbers),
            "machine": this_architecture().name,
        }

    def touched(self) -> list[str]:
        """Return what has changed."""
        changes = [f"left {path.name}" for path in self.directory.iterdir() if path.name not in ("sentinel", "bot")]
        if self.sentinel.read_text() != "a secret of the host\n":
            changes.append("changed the sentinel")
        for listener in (self.local, self.network):
            try:
                listener.accept()[0].close()
                changes.append(f"reached {listener.getsockname()!r}")
            except BlockingIOError:
                pass
        try:
            self.packets.recv(100)
            changes.append("sent a packet")
        except BlockingIOError:
            pass
        return changes

    def close(self) -> None:
        for listener in (self.local, self.packets, self.network):
            listener.close()


def herd(bot: BotProcess) -> set[int]:
    """Return the processes of the bot's user if that user is the bot's alone; else the bot's process."""
    pids = {bot.pid}
    for entry in Path("/proc").iterdir():
        try:
            user = entry.stat().st_uid if entry.name.isdigit() else -1
            if user < 0 or "State:\tZ" in (entry / "status").read_text():
                continue  # an orphan of a worker that was killed, which process 1 has not collected yet
        except OSError:
            continue
        if os.getuid() == 0 and user in slots.users() and user == bot.user:
            pids.add(int(entry.name))
    return pids


def tree_hash(root: Path) -> str:
    return hashlib.sha256(
        b"".join(str(path).encode() + path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file())
    ).hexdigest()


def play(name: str, tier: str, state_dir: Path) -> Outcome:
    """Play an attack of the collection by a bot in Python."""
    return play_attack(ATTACKS[name], tier, state_dir, runtimes.python(state_dir))


def play_attack(
    attack: Attack,
    tier: str,
    state_dir: Path,
    runtime: Runtime,
    *,
    files: Mapping[str, bytes] | None = None,
    beside: Mapping[str, bytes] | None = None,
    entry: str = "bot.py",
    sealed: bool = False,
) -> Outcome:
    """Start the attack's bot, let it do its worst, play on as with an honest bot, and clear up.

    files: the bot, if it is not Python; beside: further files of a bot in Python.
    """
    policy = Policy(memory_mb=max(128, runtime.memory_mb), threads=8, cpu_s=attack.cpu_s, sealed=sealed)
    outcome = Outcome()
    before_all = traces.collect(state_dir)
    with tempfile.TemporaryDirectory(prefix="hostile-") as scratch:
        around = Surroundings(Path(scratch))
        bot_dir = Path(scratch, "bot")
        bot_dir.mkdir(mode=0o755)
        python = {entry: PROLOGUE.replace("# ATTACK", attack.source).encode(), **(beside or {})}
        for name, content in (files or python).items():
            (bot_dir / name).write_bytes(content)
        before = tree_hash(bot_dir)
        bot = choosing.start(tier, bot_dir, runtime, entry, policy)
        try:
            _meet(bot, attack, around.goal(policy), outcome)
        except BotFault as fault:
            outcome.fault, outcome.detail = fault.kind, fault.detail
        finally:
            processes = herd(bot)
            bot.close()
        outcome.stderr = bot.stderr().decode(errors="replace")
        outcome.stderr_bytes = len(bot.stderr())
        outcome.cpu_s = bot.cpu() - bot.start_cpu_s
        outcome.remains += around.touched()
        if tree_hash(bot_dir) != before:
            outcome.remains.append("changed its own files")
        if len(processes) > (2 if tier == "namespaces" else 1):
            outcome.remains.append(f"it was {len(processes)} processes")
        outcome.remains += [f"process {pid}" for pid in processes if Path(f"/proc/{pid}").exists()]
        around.close()
    outcome.remains += sorted(traces.collect(state_dir) - before_all)
    return outcome


def _meet(bot: BotProcess, attack: Attack, goal: dict[str, object], outcome: Outcome) -> None:
    bot.send(json.dumps({**goal, "padding": "x" * attack.padding}).encode() + b"\n")
    reply = bot.read_line(attack.budget_s or START_CPU_S, attack.wall_s or START_WALL_S)
    outcome.got = json.loads(reply.line)
    bot.freeze()
    before = bot.cpu()
    time.sleep(attack.pause_s)
    outcome.frozen_cpu_s = bot.cpu() - before
    for word in (b"one\n", b"two\n", b"three\n"):
        if bot.ask(word, 1.0, 5.0).line + b"\n" != word:
            raise BotFault("protocol", "its answer is not the request")


def main() -> None:
    state_dir, tier = Path(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    play("nothing", tier, state_dir)  # A descriptor opened once, such as the starter thread's, is no leak
    for line in sys.stdin:
        print(json.dumps({"name": line.strip(), **dataclasses.asdict(play(line.strip(), tier, state_dir))}), flush=True)


if __name__ == "__main__":
    main()
