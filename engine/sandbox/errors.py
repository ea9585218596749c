"""Errors, separated by who is to blame.

``BotFault`` is a fault of the bot and may cost it the game. ``SandboxError`` and ``SandboxUnavailable`` are faults of the platform or its operator
and never cost a bot anything.
"""

from __future__ import annotations

FAULT_KINDS = frozenset({"crash", "timeout", "memory", "output_flood", "disconnect", "protocol", "pondering"})


class SandboxError(RuntimeError):
    """The sandbox failed: an infrastructure fault, never a bot's. The message says what to do."""


class BrokenOff(SandboxError):
    """The sandbox failed at a bot whose own code had begun.

    Like every SandboxError this is a failure of the platform, so the match is played again; but if the sandbox fails at the same bot once more, the
    bot is to blame. party: the bot's party, filled in by code that knows the table.
    """

    party: int | None = None


class TurnStopped(Exception):
    """The caller no longer wants the answer of a bot. This is nobody's fault."""


class NoFreeUser(SandboxError):
    """All user ids for bots are in use on this machine: the bot can be started later, or elsewhere."""


class SandboxUnavailable(SandboxError):
    """A tier does not work on this host, so nothing is started. The message lists reasons and remedies."""


class BotFault(Exception):
    """The bot broke a rule of the process protocol.

    kind: one of ``FAULT_KINDS``; detail: one line for the bot's author. Raise ValueError for another kind.
    """

    def __init__(self, kind: str, detail: str) -> None:
        if kind not in FAULT_KINDS:
            raise ValueError(f"fault kind {kind!r} is unknown; expected one of {sorted(FAULT_KINDS)}")
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
