"""The answers of a consultation: at each decision the action that was taken, and the one that the bot would have taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from league.domain.core.errors import Refused
from league.models import Consultation


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision. step: actions of the sitting before it; ply: moments of its deal before it; action: the one taken; would: that of the bot."""

    step: int
    deal: int
    ply: int
    action: str
    would: str

    @property
    def differs(self) -> bool:
        """Return True if the bot would have acted otherwise."""
        return self.would != self.action

    @property
    def anchor(self) -> str:
        """The id of its step on the page."""
        return f"d{self.deal}p{self.ply}"

    def plain(self) -> list[Any]:
        """Serialise the decision for the database."""
        return [self.step, self.deal, self.ply, self.action, self.would]


def answers(row: Consultation) -> list[Answer]:
    """Return the answers in order. Raises Refused if they are damaged: workers write them."""
    try:
        return [
            Answer(int(step), int(deal), int(ply), str(action), str(would))
            for step, deal, ply, action, would in row.answers
        ]
    except (ValueError, TypeError) as error:
        raise Refused(
            "these answers are damaged and cannot be shown; an operator can have them made again (manage.py repair --replays)"
        ) from error
