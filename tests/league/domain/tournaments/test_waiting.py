"""Why an event did not begin or did not go on, as its journal tells it."""

from __future__ import annotations

from league.domain.core import journal
from league.domain.tournaments import events, waiting
from league.enums import TournamentStatus
from league.models import Event
from tests.support.league import NOW, accepted, later


def test_each_question_has_the_last_answer_of_its_own_kind(ana, berto) -> None:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola")]
    document = {"name": "Open", "game": "partnership", "stages": [{"format": "round_robin", "boards": 2}]}
    event = events.create(ana, document, versions, now=NOW)
    assert (waiting.why_not_started(event), waiting.why_cancelled(event)) == ("", "")
    subject = f"event:{event.slug}"
    for second, kind, why in (
        (1, "event.not_started", "too few"),
        (2, "event.not_started", "one is paused"),
        (3, "event.refused", "the next stage is too large"),
        (4, "event.shown", "this answers neither"),
    ):
        journal.append(kind, subject, now=later(second), why=why)
    journal.append("event.not_started", "event:another", now=later(5), why="not this one")

    assert waiting.why_not_started(event) == "one is paused"
    assert waiting.why_cancelled(event) == ""
    Event.objects.update(status=TournamentStatus.CANCELLED)
    event.refresh_from_db()
    assert waiting.why_cancelled(event) == "the next stage is too large"
