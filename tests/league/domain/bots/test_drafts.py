"""Drafts: kept for their author alone, within limits, and gone when discarded."""

from __future__ import annotations

import pytest

from league.domain.bots import drafts, tries
from league.domain.bots.languages import JAVASCRIPT, PYTHON
from league.domain.core.errors import Refused
from league.models import Draft
from tests.support.league import NOW, later, uploaded


def test_one_draft_for_each_bot_and_one_for_a_new_one(ana) -> None:
    uploaded(ana, "rufo")
    drafts.save(ana, drafts.NEW, "new = 1", now=NOW)
    drafts.save(ana, "rufo", "old = 1", now=later(5))
    drafts.save(ana, drafts.NEW, "new = 2", now=later(9))

    assert [(draft.bot, draft.updated) for draft in drafts.of_player(ana)] == [("", later(9)), ("rufo", later(5))]
    draft = drafts.find(ana, drafts.NEW)
    assert draft is not None
    assert draft.text == "new = 2"
    assert drafts.discard(ana, "rufo", PYTHON)
    assert not drafts.discard(ana, "rufo", PYTHON)
    assert drafts.find(ana, "rufo") is None


def test_each_language_has_a_draft_of_its_own(ana) -> None:
    drafts.save(ana, drafts.NEW, "new = 1", now=NOW)
    drafts.save(ana, drafts.NEW, "let now = 1;", language=JAVASCRIPT, now=later(5))

    latest = drafts.find(ana, drafts.NEW)
    assert latest is not None
    assert (latest.language, latest.text) == ("javascript", "let now = 1;")
    draft = drafts.find(ana, drafts.NEW, PYTHON)
    assert draft is not None
    assert draft.text == "new = 1"
    assert drafts.discard(ana, drafts.NEW, JAVASCRIPT)
    assert [row.language for row in drafts.of_player(ana)] == ["python"]


def test_only_bots_of_ones_own_and_texts_that_can_be_stored(ana, berto) -> None:
    uploaded(berto, "luna")
    for bot, text, why in (
        ("luna", "x = 1", "you have no bot 'luna'"),
        ("nobody", "x = 1", "you have no bot"),
        (drafts.NEW, "#" * (tries.MOST_SOURCE + 1), "the editor takes 64"),
        (drafts.NEW, "a\0b", "NUL"),
        (drafts.NEW, " ", "there is no code"),
    ):
        with pytest.raises(Refused, match=why):
            drafts.save(ana, bot, text, now=NOW)
    assert not Draft.objects.exists()


def test_the_oldest_makes_room(ana, monkeypatch) -> None:
    monkeypatch.setattr(drafts, "MOST", 2)
    for number in range(3):
        uploaded(ana, f"bot-{number}")
        drafts.save(ana, f"bot-{number}", "x = 1", now=later(number))
    assert [draft.bot for draft in drafts.of_player(ana)] == ["bot-2", "bot-1"]
