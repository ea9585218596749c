"""A process of the league that is out of luck: `python -m tests.chaos.trouble worker`. What happens to it is said by the environment.

Without a word it forks such a process for each line of its input (tests/chaos/forked.py).

    CHAOS_DIE_AT    a key of PLACES: SIGKILL to this very process when it gets there
    CHAOS_BY        "SIGTERM": this signal instead; "SystemExit": the loop that is there ends, as no bug should be able to end it
    CHAOS_SKEW_S    its own clock is wrong by this many seconds
    CHAOS_CORES     the folder in which cores are shared out, so that no other program's matches hold them
    CHAOS_COMMIT    the commit that it tells as its own
    CHAOS_RULES     "partnership=7": its rules of this game are those of another revision, by their number
    CHAOS_MESSAGES  "twice": each message is sent twice; "none": each is lost

Everything else is the real thing. Nothing is replaced; calls are only overheard.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

gc.disable()  # manage.py does this, too

import django  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django.setup()

from celery.app.task import Task  # noqa: E402 - Django first
from django.core.management import execute_from_command_line, load_command_class  # noqa: E402
from django.utils import timezone  # noqa: E402

from engine import game as games  # noqa: E402
from engine.runner import cores  # noqa: E402
from engine.runner.seat import Seat  # noqa: E402
from engine.sandbox import Sandbox  # noqa: E402
from league.domain.core import idempotency, transitions  # noqa: E402
from league.domain.jobs import worker as working  # noqa: E402
from league.domain.jobs.handlers import matches as playing  # noqa: E402
from league.domain.matches import matches, reports  # noqa: E402
from league.domain.ratings import ratings  # noqa: E402
from league.domain.tournaments import progress  # noqa: E402
from league.enums import MatchStatus, TournamentStatus  # noqa: E402
from tests.chaos import forked  # noqa: E402
from tests.support.processes import die_with_parent  # noqa: E402


def die(*args: object, **keywords: object) -> None:
    """Die as by the kernel's out-of-memory killer: no handler runs, no connection is closed in good order. CHAOS_BY names another way."""
    how = os.environ.get("CHAOS_BY", "SIGKILL")
    if how == "SystemExit":
        raise SystemExit
    os.kill(os.getpid(), signal.Signals[how])


def before(place: Any, name: str, act: Callable[..., object]) -> None:
    """Call `act` with the arguments before each call of a function."""
    real = getattr(place, name)

    def overheard(*args: Any, **keywords: Any) -> Any:
        act(*args, **keywords)
        return real(*args, **keywords)

    setattr(place, name, overheard)


def after(place: Any, name: str, act: Callable[..., object]) -> None:
    """Call `act` with the result after each call of a function."""
    real = getattr(place, name)

    def overheard(*args: Any, **keywords: Any) -> Any:
        result = real(*args, **keywords)
        act(result)
        return result

    setattr(place, name, overheard)


def when(fact: Callable[..., object]) -> Callable[..., None]:
    """Die where `fact` holds of the arguments."""

    def act(*args: Any, **keywords: Any) -> None:
        if fact(*args, **keywords):
            die()

    return act


def nth_call(number: int) -> Callable[..., bool]:
    """Return a predicate that is true at the n-th call."""
    calls = iter(range(1, number + 1))
    return lambda *args, **keywords: next(calls, number) == number


def moved_to(status: str) -> Callable[..., bool]:
    """Return a predicate: `state.move` was called for this status."""
    return lambda row, to, **keywords: to == status


def after_a_sitting() -> None:
    """Die when a sitting is over, and was noted as progress."""
    real = playing.note_progress

    def overheard(job: Any) -> Callable[[int, int], None]:
        note = real(job)

        def noted(played: int, total: int) -> None:
            note(played, total)
            if played:
                die()

        return noted

    playing.note_progress = overheard


def ahead(arrange: Callable[[], None]) -> Callable[[], None]:
    """Arrange trouble for the next match, which is then claimed in every last pass, whatever the pace of the present one."""

    def arranged() -> None:
        working.SOON_S = math.inf
        arrange()

    return arranged


# Where to die. A match goes through the first ten in a worker, ahead while another is played; the others are places of the scheduler.
PLACES: dict[str, Callable[[], None]] = {
    "claimed": lambda: after(working, "claim", when(bool)),
    "first bot started": lambda: after(Sandbox, "start", die),
    "all bots started": lambda: after(Sandbox, "start", when(nth_call(4))),
    "claimed ahead": ahead(lambda: before(playing, "first_processes", die)),
    "bots started ahead": ahead(lambda: after(playing, "first_processes", die)),
    "in the middle of a board": lambda: before(Seat, "ask", when(nth_call(30))),
    "between two sittings": after_a_sitting,
    "before the report": lambda: before(reports, "report", die),
    "in the report": lambda: before(transitions, "move", when(moved_to(MatchStatus.FINISHED))),
    "after the report": lambda: after(reports, "report", die),
    "in the count": lambda: after(ratings, "_write", die),
    "after the count": lambda: after(ratings, "refresh", when(bool)),
    "in the schedule": lambda: after(matches, "_row", when(nth_call(3))),
    "at the end": lambda: after(progress, "advance", when(bool)),
    "in the end": lambda: before(transitions, "move", when(moved_to(TournamentStatus.FINISHED))),
}


def before_the_answer() -> None:
    """Die after a create is committed and before its answer is sent."""
    from league.api.http.base import ApiView  # not before: workers and schedulers load no API

    after(ApiView, "once", when(nth_call(2)))


# Of the web: a process of it dies in the second create that carries a key, and so does the one that takes its place.
PLACES_OF_THE_WEB: dict[str, Callable[[], None]] = {
    "before a create is kept": lambda: before(idempotency, "finish", when(nth_call(2))),
    "before a create is answered": before_the_answer,
}


def lie_about_the_time(seconds: float) -> None:
    """Everything of the league that asks this machine for the time gets a wrong one."""
    real = timezone.now
    timezone.now = lambda: real() + timedelta(seconds=seconds)


def send(times: int) -> None:
    """Send every message `times` times."""
    real = Task.apply_async

    def sent(task: Task, *args: Any, **keywords: Any) -> None:
        for _ in range(times):
            real(task, *args, **keywords)

    Task.apply_async = sent


def play_by_other_rules(rules: str) -> None:
    """Play a game by the rules of another revision."""
    game, _, revision = rules.partition("=")
    games._declared()[game] = replace(games.declared(game), revision=int(revision))


def main() -> None:
    """Arrange the trouble, then run the command."""
    if folder := os.environ.get("CHAOS_CORES"):
        cores.shared_folder = lambda: Path(folder)
    if place := os.environ.get("CHAOS_DIE_AT"):
        (PLACES | PLACES_OF_THE_WEB)[place]()
    if commit := os.environ.get("CHAOS_COMMIT"):
        os.environ["BUILD_COMMIT"] = commit
    if rules := os.environ.get("CHAOS_RULES"):
        play_by_other_rules(rules)
    if skew := os.environ.get("CHAOS_SKEW_S"):
        lie_about_the_time(float(skew))
    if messages := os.environ.get("CHAOS_MESSAGES"):
        send({"twice": 2, "none": 0}[messages])
    if sys.argv[1] == "gunicorn":
        from gunicorn.app.wsgiapp import run as serve

        sys.argv = sys.argv[1:]
        serve()
    else:
        execute_from_command_line(["manage.py", *sys.argv[1:]])


def fork() -> None:
    """Have the commands loaded, and fork."""
    for name in ("worker", "scheduler"):
        load_command_class("league", name)
    die_with_parent()
    forked.serve(born)


def born() -> None:
    """Run main in a forked process as in one that was started with this environment."""
    die_with_parent()
    main()


if __name__ == "__main__":
    if sys.argv[1:]:
        main()
    else:
        fork()
