"""Work beside the job of a worker."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.sandbox import Sandbox
from engine.sandbox.files import keeping
from league.domain.jobs.beside import WorkBeside
from tests.support.processes import wait_for


class Piece:
    """It uses a bot until it may end."""

    def __init__(self, bot: Path) -> None:
        self.bot, self.may_end, self.has_begun = bot, threading.Event(), threading.Event()

    def beat(self) -> None:
        """Do nothing: nobody else wants it."""


class Pieces(WorkBeside[Piece]):
    """Pieces of work in memory."""

    waiting: list[Piece]

    def most(self) -> int:
        return 2

    def is_awaited(self) -> bool:
        return bool(self.waiting)

    def claim(self) -> Piece | None:
        return self.waiting.pop(0)

    def run(self, lease: Piece) -> None:
        keeping.use(lease.bot)
        lease.has_begun.set()
        lease.may_end.wait(60)


def no_sandbox() -> Sandbox:
    raise AssertionError("nothing runs in a sandbox here")


@pytest.mark.django_db
def test_bots_that_no_piece_uses_any_more_can_be_removed(tmp_path: Path) -> None:
    """There need not be a time without any piece: with many tables there is none for days."""
    bots = [tmp_path / name for name in ("first", "second")]
    for bot in bots:
        bot.mkdir()
        (bot / "bot.py").write_text("1")
    work = Pieces("w", tmp_path, lambda: True, no_sandbox, lambda: False)
    work.waiting = [Piece(bot) for bot in bots]
    long, short = work.waiting
    try:
        for piece in (short, long):  # The short one begins first.
            work.waiting = [piece]
            assert work.look()
            assert piece.has_begun.wait(60)
        short.may_end.set()
        wait_for(lambda: not work.is_full(), "the end of the short one", 60)
        assert keeping.prune(tmp_path, 0) == ["second"]
    finally:
        long.may_end.set()
        work.close()
