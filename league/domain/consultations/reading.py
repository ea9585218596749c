"""What a consultation says, for people: at each decision what was done, and what the bot would have done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from league.domain.core.errors import Refused
from league.models import Consultation


@dataclass(frozen=True, slots=True)
class Answer:
    """One decision. step: actions of the sitting before it; ply: moments of its deal before it; action: what was done; would: by the bot asked."""

    step: int
    deal: int
    ply: int
    action: str
    would: str

    @property
    def differs(self) -> bool:
        """Whether the bot would have done something else."""
        return self.would != self.action

    @property
    def anchor(self) -> str:
        """The id of its step on the page."""
        return f"d{self.deal}p{self.ply}"

    def plain(self) -> list[Any]:
        """As it is stored."""
        return [self.step, self.deal, self.ply, self.action, self.would]


def answers(row: Consultation) -> list[Answer]:
    """In order. Refused for what is none of ours: workers write it."""
    try:
        return [
            Answer(int(step), int(deal), int(ply), str(action), str(would))
            for step, deal, ply, action, would in row.answers
        ]
    except (ValueError, TypeError) as error:
        raise Refused(
            "these answers are damaged and cannot be shown; an operator can have them made again (manage.py repair --replays)"
        ) from error
