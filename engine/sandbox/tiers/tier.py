"""The declaration of a tier. Only its rank, which is its place in the list of the package, is not declared here."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from engine.sandbox.cgroups.placing import BotPlace
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess

Start: TypeAlias = Callable[[BotPlace, Runtime, str, Policy, "int | None"], BotProcess]

# The errors of execve for a file that is not a program. All its other errors (no memory, no permission, a file system mounted noexec) are
# the fault of this machine.
NO_PROGRAM = (errno.ENOEXEC, errno.EINVAL, errno.ELIBBAD)
BY_LAUNCHER = {"failed at become: ": NO_PROGRAM}


@dataclass(frozen=True, kw_only=True)
class Tier:
    """A way to confine a bot.

    name: its name in the settings; held_by, needs, leaves_open: cells of the table for people; remedies: sentences that say what to do if the tier
    does not hold. prerequisites: raises SandboxError if something is missing, else returns the weaknesses of this machine that other means cover.
    start: starts a bot in a place, with its runtime, entry file, policy and core; raises SandboxError and leaves no process. unsealed: returns why
    the tier cannot seal bots for the current user, or None. own_numbers: True if the numbers of threads are counted for each bot alone. isolates:
    False if a bot may do whatever the worker may; such a tier is never chosen by "auto", nor tested. no_program: text of a failed start -> the errors
    that then mean that the bot's file is not a program.
    """

    name: str
    held_by: str
    needs: str
    leaves_open: str
    start: Start
    remedies: tuple[str, ...] = ()
    prerequisites: Callable[[], tuple[str, ...]] = tuple
    unsealed: Callable[[], str | None] = lambda: None
    own_numbers: bool = False
    isolates: bool = True
    no_program: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: BY_LAUNCHER)

    def says_no_program(self, file: Path, complaint: str) -> bool:
        """Return True if a start failed because of the contents of the bot's file."""
        codes = next((codes for step, codes in self.no_program.items() if step in complaint), ())
        return file.is_file() and any(os.strerror(code) in complaint for code in codes)
