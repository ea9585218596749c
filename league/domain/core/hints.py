"""Hints: messages to other processes, after the commit, that there may be work for them.

Nothing depends on a hint: the scheduler finds all work without them. The layers above register how to send one.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction


def _nobody(*args: int) -> None:
    """Send nothing: the default until somebody registers."""


class _Senders:
    work: Callable[[], None] = staticmethod(_nobody)
    rating: Callable[[int], None] = staticmethod(_nobody)
    tournament: Callable[[int], None] = staticmethod(_nobody)


def register(*, work: Callable[[], None], rating: Callable[[int], None], tournament: Callable[[int], None]) -> None:
    """Set the functions that announce queued matches, and new results of a pool or a tournament (by id)."""
    _Senders.work = staticmethod(work)
    _Senders.rating = staticmethod(rating)
    _Senders.tournament = staticmethod(tournament)


def matches_wait() -> None:
    """Announce queued matches after this transaction."""
    transaction.on_commit(lambda: _Senders.work(), robust=True)


def pool_grew(pool_id: int) -> None:
    """Announce after this transaction that a pool has results that its ratings do not include yet."""
    transaction.on_commit(lambda: _Senders.rating(pool_id), robust=True)


def tournament_grew(tournament_id: int) -> None:
    """Announce after this transaction that a tournament has a result, which may bring its next matches or its end."""
    transaction.on_commit(lambda: _Senders.tournament(tournament_id), robust=True)
