"""The answers of a consultation: at each decision the action in the match, and the action of the house bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from league.domain.core.errors import Refused
from league.models import Consultation


@dataclass(frozen=True, slots=True)
class BotAnswer:
    """One decision of the asked seat.

    step: number of actions of the sitting before it; ply: number of moves of its deal before it; action: the one in the match; would: that of the
    house bot.
    """

    step: int
    deal: int
    ply: int
    action: str
    would: str

    @property
    def differs(self) -> bool:
        """Return True if the house bot would have acted differently."""
        return self.would != self.action

    @property
    def anchor(self) -> str:
        """Return the id of the step on the page."""
        return f"d{self.deal}p{self.ply}"

    def plain(self) -> list[Any]:
        """Serialise the decision for the database."""
        return [self.step, self.deal, self.ply, self.action, self.would]


def answers(row: Consultation) -> list[BotAnswer]:
    """Return the answers in order. Raise Refused if they are damaged, which is possible because workers write them."""
    try:
        return [
            BotAnswer(int(step), int(deal), int(ply), str(action), str(would))
            for step, deal, ply, action, would in row.answers
        ]
    except (ValueError, TypeError) as error:
        raise Refused(
            "these answers are damaged and cannot be shown; an operator can repeat them (manage.py repair --replays)"
        ) from error
