"""manage.py demo."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import engine
from league import tasks
from league.domain.bots import house
from league.domain.core.errors import Refused
from league.domain.matches import workers
from league.domain.ratings import pools
from league.domain.tournaments import enrolment, tournaments
from league.domain.upkeep import reconcile
from league.enums import MatchStatus, VersionStatus
from league.management import tables
from league.management.base import LeagueCommand
from league.management.commands.serve import check_free
from league.management.processes import GaveUp, Supervisor, manage
from league.models import BotVersion, Match, Tournament

# Boards per match: enough to distinguish the bots in a minute.
GAMES = {
    "partnership": 12,
    "corriente": 24,
    "cabrero": 6,
}
# `deep` would take as long as all other bots together, and without compiled rules it plays much like `counting`.
LEFT_OUT = ("deep",)
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
STILL = 180.0  # Seconds without progress before the demo gives up.
LOG = "demo.log"


class Command(LeagueCommand):
    """Build a demo league."""

    help = (
        "Migrate, enter the house bots, play a round robin of them in each game with real workers and the sandbox, and print the "
        "leaderboards. The same seed gives the same cards and results; running it again completes what is missing."
    )
    example = "manage.py demo --seed 7 --boards 8 --no-serve"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--seed", default="1", help="any text; it determines every deal")
        parser.add_argument(
            "--boards", type=int, help="boards per match; by default enough to distinguish the house bots"
        )
        parser.add_argument(
            "--game", action="append", default=[], help=f"instead of {', '.join(GAMES)}; may be repeated"
        )
        parser.add_argument("--slots", type=int, default=min(2, os.cpu_count() or 1), help="matches at a time")
        parser.add_argument("--bind", default="127.0.0.1:8000", help="address of the site")
        parser.add_argument("--serve", action="store_true", default=True, help="run the site afterwards (the default)")
        parser.add_argument("--no-serve", action="store_false", dest="serve", help="stop after printing")

    def run(self, **options: Any) -> None:
        """Play, print, serve."""
        if options["serve"]:
            check_free(options["bind"])
        began = time.monotonic()
        stdout: Any = self.stdout  # The library rich needs the stream inside Django's wrapper to find its width.
        self.console = Console(file=stdout._out)
        games = options["game"] or [game for game in GAMES if game in engine.games()]
        call_command("migrate", verbosity=0, interactive=False)
        with self._players(options["slots"]):
            self._enter(options["seed"])
            played = [self._tournament(game, options) for game in games]
            self._wait("Round robins", Match.objects.filter(tournament__in=played))
        reconcile.reconcile()
        for tournament in played:
            tournament.refresh_from_db()
            tables.print_leaderboard(self.console, tournament)
        call_command("weekly_tournaments", stdout=io.StringIO())
        failed = [tournament.name for tournament in played if tournament.status != "finished"]
        self.console.print(
            f"Played and rated in {time.monotonic() - began:.0f} s. Seed {options['seed']!r}; another one deals other cards."
        )
        if failed:
            raise CommandError(
                f"not finished: {', '.join(failed)}; run the command again, or look into {settings.STATE_DIR / LOG}"
            )
        if not options["serve"]:
            self.say(f"Next: make serve (or manage.py serve), then open http://{options['bind']}")
        else:
            # A new program, because the processes of the site would share all that the demo has loaded.
            words = ["serve", "--bind", options["bind"], "--slots", str(options["slots"]), "--no-migrate"]
            sys.stdout.flush()
            os.execv(sys.executable, [*sys.orig_argv[: 1 - len(sys.argv)], *words])  # noqa: S606 - this program

    @contextmanager
    def _players(self, slots: int) -> Iterator[None]:
        """Run workers and the scheduler in separate processes while the body runs."""
        log = settings.STATE_DIR / LOG
        children = {"scheduler": manage("scheduler"), **{f"worker-{i}": manage("worker") for i in range(1, slots + 1)}}
        # Ladder matches would change the results of a seed, so they start only with the site.
        self.supervisor = Supervisor(children, log=log, prepare=lambda: setattr(settings, "LADDERS", False))
        self.supervisor.start()
        try:
            yield
        except GaveUp as error:
            raise CommandError(str(error)) from error
        finally:
            self.supervisor.stop()

    def _enter(self, seed: str) -> None:
        """Enter the house bots and wait for their validation matches."""
        shipped = [name for name in house.names() if name not in LEFT_OUT]
        entered = list(house.enter(shipped, secret=_secret(seed, "validation"))) if shipped else []
        if not entered:
            raise CommandError("there is no bot under bots/house; this checkout is not complete")
        versions = [version.pk for version, _ in entered]
        self._wait(
            "House bots, validation", Match.objects.filter(kind="validation", parties__version__in=versions).distinct()
        )
        rejected = (
            BotVersion.objects.filter(pk__in=versions).exclude(status=VersionStatus.ACCEPTED).select_related("bot")
        )
        for version in rejected:
            self.stderr.write(f"{version} is {version.status}: {version.fault} {version.fault_detail}")
        if len(rejected) > len(versions) - 2:
            raise CommandError("fewer than two house bots passed their validation match; nothing to show")

    def _tournament(self, game: str, options: dict[str, Any]) -> Tournament:
        name = f"Demo {engine.load(game).title} {options['seed']}"
        owner = house.player()
        tournament = Tournament.objects.filter(name=name, owner=owner).select_related("pool").first()
        if tournament is None:
            secret = _secret(options["seed"], game)
            accepted = BotVersion.objects.filter(bot__owner=owner, status=VersionStatus.ACCEPTED).order_by("number")
            newest = {version.bot_id: version for version in accepted}
            players = _seats(game, sum(version.plays(game) for version in newest.values()))
            tournament = tournaments.create(
                owner, name, game, boards=options["boards"] or GAMES.get(game), players=players, secret=secret
            )
        if tournament.status == "open":
            for bot in owner.bots.order_by("slug"):
                try:
                    enrolment.enter(tournament, bot, player=owner)
                except Refused:
                    continue  # The bot does not play this game, or did not pass.
            tournaments.start(tournament, actor=owner.name)
        return tournament

    def _wait(self, what: str, matches: Any) -> None:
        """Show a progress bar until all `matches` are finished. Running matches count in part."""
        columns = (
            TextColumn("{task.description:<24}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("matches"),
            TimeElapsedColumn(),
        )
        total = matches.count()
        with Progress(*columns, console=self.console) as progress:
            bar = progress.add_task(what, total=total)
            last, since = -1.0, time.monotonic()
            while True:
                completed = _done(matches.values_list("status", "progress"))
                progress.update(bar, completed=int(completed))
                if not matches.filter(status__in=LIVE).exists():
                    progress.update(bar, completed=total)
                    return
                if completed > last:
                    last, since = completed, time.monotonic()
                self.supervisor.watch()
                self._check(time.monotonic() - since)
                tasks.wake()
                time.sleep(0.3)

    def _check(self, still: float) -> None:
        queue = workers.queue()
        if queue.refusing and not queue.workers:
            raise CommandError(queue.starved or "every worker refuses to play")
        if still > STILL:
            raise CommandError(f"no progress for {still:.0f} s; see {settings.STATE_DIR / LOG}. {queue.starved}")


def _secret(seed: str, purpose: str) -> bytes:
    return hashlib.sha256(f"tute demo\n{seed}\n{purpose}".encode()).digest()


def _seats(game: str, bots: int) -> int | None:
    """Return None if the bots can fill a table of the usual size, else the number of bots."""
    if len(pools.load(game).sides) <= bots:
        return None
    return bots


def _done(rows: Sequence[tuple[str, int]]) -> float:
    return sum(progress / 100 if status in LIVE else 1.0 for status, progress in rows)
