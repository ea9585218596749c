"""Hints are sent after the transaction, and what they do breaks nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction

from league.domain.core import hints


@pytest.fixture
def sent() -> Iterator[list[object]]:
    """Collect the hints in place of the messages that this process would send."""
    messages: list[object] = []
    senders = hints._Senders.work, hints._Senders.rating, hints._Senders.tournament
    hints.register(
        work=lambda: messages.append("work"), rating=messages.append, tournament=lambda pk: messages.append(-pk)
    )
    yield messages
    hints.register(work=senders[0], rating=senders[1], tournament=senders[2])


def test_hints_wait_for_the_end_of_the_transaction(transactional_db, sent: list[object]) -> None:
    with transaction.atomic():
        hints.matches_wait()
        hints.pool_grew(7)
        hints.tournament_grew(3)
        assert sent == []
    assert sent == ["work", 7, -3]


def test_nothing_is_said_of_what_was_taken_back(transactional_db, sent: list[object]) -> None:
    with transaction.atomic():
        hints.matches_wait()
        hints.pool_grew(7)
        transaction.set_rollback(True)
    assert sent == []


def test_a_hint_that_cannot_be_sent_is_logged_and_hides_no_other(transactional_db, sent: list[object], caplog) -> None:
    def broken(*args: int) -> None:
        raise ConnectionError("the broker does not answer")

    hints.register(work=broken, rating=broken, tournament=broken)
    with transaction.atomic():
        hints.matches_wait()
        hints.pool_grew(7)
        transaction.on_commit(lambda: sent.append("last"))
    assert sent == ["last"]
    assert caplog.text.count("ConnectionError: the broker does not answer") == 2
