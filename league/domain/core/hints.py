"""Tells the processes that work may be there, after the transaction that made it has been committed.

A hint is never needed for anything to be right: the scheduler finds what no hint announced. The layers above register how to send one.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction


def _nobody(*args: int) -> None:
    """Until somebody registers, hints go nowhere; the scheduler does the rest."""


class _Senders:
    work: Callable[[], None] = staticmethod(_nobody)
    rating: Callable[[int], None] = staticmethod(_nobody)
    tournament: Callable[[int], None] = staticmethod(_nobody)


def register(*, work: Callable[[], None], rating: Callable[[int], None], tournament: Callable[[int], None]) -> None:
    """How to say that matches wait, and that a pool or a tournament (by id) has new results."""
    _Senders.work = staticmethod(work)
    _Senders.rating = staticmethod(rating)
    _Senders.tournament = staticmethod(tournament)


def matches_wait() -> None:
    """After this transaction: some matches wait for a worker."""
    transaction.on_commit(lambda: _Senders.work(), robust=True)


def pool_grew(pool_id: int) -> None:
    """After this transaction: a pool has results that its ratings do not know."""
    transaction.on_commit(lambda: _Senders.rating(pool_id), robust=True)


def tournament_grew(tournament_id: int) -> None:
    """After this transaction: a tournament has a result that may be followed by its next matches, or its end."""
    transaction.on_commit(lambda: _Senders.tournament(tournament_id), robust=True)
