"""The league's end: a remote bot at a seat of a match, in place of a process.

Each line is a row, and so is its answer. The clock of a remote bot counts the seconds from the request to the answer, as that of a sandboxed bot
counts seconds of its processor: a connection that is lost costs only time, until the time is up.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

from django.db import transaction
from django.db.models import Max

from engine.packages.manifest import REMOTE
from engine.runner import BotSpec
from engine.sandbox import BotFault, TurnStopped
from engine.sandbox.process.bot import Reply
from league.domain.remote import links
from league.models import Party, RemoteLine
from league.service import listening

AGAIN_S = 1.0  # Seconds between two looks for the answer while the database announces changes.
DEAF_S = 0.05  # The same while it does not.
STOP_S = 0.25  # Seconds between two looks at `stop`.


class RemoteSeat:
    """A remote bot at a seat for one pass, with the methods of a bot process that a `Seat` uses."""

    def __init__(self, party: Party) -> None:
        self._party, self._bot = party.pk, party.version.bot_id
        self._number = RemoteLine.objects.filter(party=party).aggregate(last=Max("number"))["last"] or 0
        self.stop: Callable[[], bool] | None = None
        self.interlude: Callable[[], Callable[[], None] | None] | None = None
        self.pondering_s = self.interlude_s = 0.0
        self.counted_s = math.inf

    def ask(self, data: bytes, budget_s: float, wall_s: float, longest: int) -> Reply:
        """Send a request and wait for the answer. Raise BotFault after the seconds of its budget, TurnStopped."""
        began = time.monotonic()
        until = began + min(budget_s, wall_s)
        row = self._write(data)
        woken = threading.Event()
        names = ("", listening.ANY, links.subject(row.pk))

        def wake(name: str) -> None:
            if name in names:
                woken.set()

        listening.LISTENER.add(wake)
        try:
            while (answer := self._answer(row)) is None:
                now = time.monotonic()
                if now >= until:
                    return self._give_up(row, now - began)
                pause = until - now
                due = now + min(pause, AGAIN_S if listening.LISTENER.is_listening else DEAF_S)
                while (left_s := due - time.monotonic()) > 0 and not woken.wait(min(left_s, STOP_S)):
                    if self.stop is not None and self.stop():
                        raise TurnStopped
                woken.clear()
        finally:
            listening.LISTENER.remove(wake)
        return self._reply(answer, time.monotonic() - began)

    def send(self, data: bytes, deadline: float = 0.0) -> None:
        """Send a line without waiting for an answer."""
        self._write(data)

    def read_line(self, cpu_s: float, wall_s: float, longest: int) -> Reply:
        """Return an empty line: nobody waits for the end of a remote process."""
        return Reply(b"", 0.0, 0.0)

    def freeze(self) -> None:
        """Do nothing: a remote bot may think at any time."""

    def thaw(self) -> None:
        """Do nothing, as `freeze`."""

    def pin(self, cores: Collection[int]) -> None:
        """Do nothing: a remote bot runs on its author's cores."""

    def close(self) -> None:
        """Do nothing: the next `hello` begins a new conversation."""

    def stderr(self) -> bytes:
        """Return nothing: the author has the output."""
        return b""

    def _write(self, data: bytes) -> RemoteLine:
        self._number += 1
        with transaction.atomic():
            row = RemoteLine.objects.create(
                party_id=self._party, number=self._number, request=data.decode().rstrip("\n")
            )
            links.announce(self._bot)
        return row

    @staticmethod
    def _answer(row: RemoteLine) -> str | None:
        return RemoteLine.objects.filter(pk=row.pk).values_list("answer", flat=True).get()

    def _give_up(self, row: RemoteLine, took_s: float) -> Reply:
        """Close the request. The bot loses by time, unless its answer has come at this instant."""
        if not RemoteLine.objects.filter(pk=row.pk, answer=None).update(answer=""):
            return self._reply(self._answer(row) or "", took_s)
        raise BotFault("timeout", f"no answer within {took_s:.1f} s")

    @staticmethod
    def _reply(answer: str, took_s: float) -> Reply:
        return Reply(answer.encode("utf-8", "replace"), took_s, took_s)


def remote_spec(party: Party) -> BotSpec:
    """Return the bot of a party of a match, which plays from its author's machine."""
    return BotSpec(party.version.bot.slug, Path(), REMOTE, "", connect=lambda seat: RemoteSeat(party))
