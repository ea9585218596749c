"""Modules of WebAssembly as machine code: compiled once by content, in the sandbox, beside the package.

Only the process of the same bot ever runs the code, behind the same walls. So a module that deceived the compiler would deceive itself.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from engine.runner import runtimes
from engine.runner.spec import BotSpec
from engine.sandbox import BotFault, Policy, Sandbox
from engine.sandbox.files import inventory, keeping

NAME = "module"  # Of the compiled file.
_POLICY = Policy(threads=1, cpu_s=120)
_COMPILE_S = 60.0  # CPU seconds.
_MOST_BYTES = 64 << 20  # Of the machine code, in base 64.


def with_machine_code(bot: BotSpec, box: Sandbox) -> BotSpec:
    """Return a bot with its module compiled for this machine; unchanged if it has none, or one that cannot be compiled: its start will say why.

    Raise SandboxError, OSError.
    """
    if not bot.metered:
        return bot
    runtime = runtimes.get(bot.runtime, box.state_dir)
    suffix = f"-{runtime.hash}-{_processor()}"
    if bot.path.name.endswith(suffix):
        return bot
    place = bot.path.with_name(bot.path.name + suffix)
    if inventory.find_damage(place):
        try:
            with box.start(bot.path, runtime, bot.entry, _POLICY) as process:
                line = process.ask(b"0 compile\n", _COMPILE_S, 4 * _COMPILE_S, _MOST_BYTES).line
            code = base64.b64decode(line, validate=True)
        except (BotFault, binascii.Error):
            return bot
        work = Path(tempfile.mkdtemp(prefix=".compile-", dir=place.parent))
        try:
            work.chmod(0o755)
            (work / NAME).write_bytes(code)
            (work / NAME).chmod(0o644)
            inventory.install(work, place)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    keeping.use(place)
    return replace(bot, path=place, entry=NAME)


@cache
def _processor() -> str:
    """Return a hash of what this processor can do: the compiler uses it all."""
    facts = re.search(r"^(flags|Features)\s*:.*$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return hashlib.sha256(facts[0].encode() if facts else b"").hexdigest()[:8]
