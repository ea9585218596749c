"""What can go wrong, kept apart by whose fault it is.

``BotFault`` is the bot's doing and may cost it the game. ``SandboxError`` and ``SandboxUnavailable`` are ours or the
operator's and never do.
"""

from __future__ import annotations

FAULT_KINDS = frozenset({"crash", "timeout", "memory", "output_flood", "disconnect", "protocol", "pondering"})


class SandboxError(RuntimeError):
    """The sandbox failed: an infrastructure fault, never a bot's. The message says what to do."""


class BrokenOff(SandboxError):
    """The sandbox failed at a bot whose own code had begun.

    Ours, like every SandboxError, so the match is played again; but if it happens at the same bot once more, the bot is to blame.
    party: whose bot it was, put in by whoever knows the table.
    """

    party: int | None = None


class Stopped(Exception):
    """Whoever asked a bot does not want its answer any more. Nobody's fault."""


class SandboxUnavailable(SandboxError):
    """A tier does not hold on this host, so nothing is started. The message lists reasons and remedies."""


class BotFault(Exception):
    """The bot broke a rule of the process protocol.

    kind: one of ``FAULT_KINDS``; detail: one line for the bot's author. Raises ValueError for another kind.
    """

    def __init__(self, kind: str, detail: str) -> None:
        if kind not in FAULT_KINDS:
            raise ValueError(f"fault kind {kind!r} is unknown; expected one of {sorted(FAULT_KINDS)}")
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
