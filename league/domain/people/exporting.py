"""A player's own data in one zip: what the league stores about them and their bots, as JSON lines, with packages and texts.

Matches are public and can be many, so the zip names the address that lists them. It holds no secret of a deal, and nothing that its owner could not
read on a page.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from league.domain.core import clock
from league.domain.people import sessions, subscriptions
from league.enums import MatchKind
from league.models import (
    ArenaEntry,
    BotVersion,
    Check,
    Consultation,
    Guest,
    Judgement,
    LeagueEvent,
    Match,
    Player,
    Rating,
    Solver,
    Table,
)
from league.models.tables import LIVE

CHUNK = 20  # Rows with large columns that are in memory at once.
README = """\
What this league stores about you

account.json       name, address, open data, puzzle rating, limits, log-ins, notice settings, webhooks, keys (only their first characters)
bots.jsonl         your bots
git.jsonl          Git repositories that you linked with bots
versions.jsonl     their versions, and those that you uploaded to bots of your teams
checks.jsonl       what validation found in each game
ratings.jsonl      their ratings
bots/              the package of each version, ready to be submitted again
teams.jsonl        teams that you are in, or are invited to
offers.jsonl       bots that others want to hand on to you
drafts.jsonl       texts in the editor that you have not submitted
fetches.jsonl      versions that you asked for from Git repositories
tries.jsonl        texts that you tried, with results and cards; they are removed after some days
tunings.jsonl      tunings that you started
studies.jsonl      studies of rules that you started
tables.jsonl       tables at which you sat; with every card if they have ended
challenges.jsonl   challenges to you at tables of others
puzzles.jsonl      your answers to puzzles
mistakes.jsonl     your mistakes as puzzles, and when each comes back
classes.jsonl      your classes, and what you have handed in there
matches.jsonl      matches that you asked for
analyses.jsonl     analyses, advice of house bots and searches for mistakes that you asked for
events.jsonl       events in which you take part
contests.jsonl     tournaments, events and recurring leagues that you organise, and arenas that you entered
requests.jsonl     your requests to enter bots of others
comments.jsonl     your comments, with the reason if an operator hid one
reports.jsonl      comments of others that you reported
blocks.jsonl       players whom you have blocked
follows.jsonl      what you follow
notices.jsonl      notices of the last 90 days
journal.jsonl      lines of the journal about your account

Each line of a .jsonl file is a JSON object. Times are UTC. Matches are public; this address lists those of a bot:
{site}/api/v1/matches?bot=NAME
"""
BOT = (
    "state",
    "description",
    "entry_policy",
    "in_class",
    "on_ladders",
    "away_until",
    "paused_for",
    "stopped",
    "stopped_for",
)
VERSION = (
    *("runtime", "entry", "games", "refused", "deterministic", "status", "fault", "fault_detail", "created"),
    *("opened", "opens", "opens_after", "licence"),
)
CHECK = ("game", "name", "fault", "fault_detail", "situation", "request", "answer", "decisions", "max_cpu_s", "seconds")
RATING = ("elo", "margin", "boards", "opponents", "score", "points_per_board", "rank_best", "rank_worst", "updated")
TABLE = ("public_id", "rated", "boards", "created", "status", "reason", "finished", "scores", "records")
COMMENT = ("id", "board", "sitting", "step", "puzzle", "text", "created", "deleted", "hidden", "hidden_for")
CONTEST = ("slug", "name", "description", "created")
REQUEST = ("status", "message", "created", "answered")
FETCH = ("bot_name", "url", "folder", "tag", "commit", "why", "created", "finished")
NOTICE = ("kind", "text", "words", "count", "created", "read", "mailed")
TUNING = (
    *(
        "game",
        "parameters",
        "values",
        "course",
        "boards",
        "played",
        "spent_s",
        "won",
        "drawn",
        "lost",
        "verdict",
        "why",
    ),
    *("begun", "tested", "decided"),
)
HAND_IN = ("attempt", "created", "is_late", "won", "drawn", "lost", "verdict", "why", "decided")
SOLVER = ("rating", "deviation", "volatility", "answers", "zone", "day", "streak", "longest")
Row = Mapping[str, Any]


def write(player: Player, target: IO[bytes], *, site: str) -> None:
    """Write the zip to a file open for writing. `site`: the base of addresses, such as "https://league.example"."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README.format(site=site))
        archive.writestr("account.json", _json(_account(player)))
        for name, rows in _lists(player):
            with archive.open(f"{name}.jsonl", "w") as file:
                for row in rows:
                    file.write(_json(row) + b"\n")
        for slug, number, data in (
            _versions(player)
            .values_list("bot__slug", "number", Coalesce("source__data", "package__data"))
            .iterator(CHUNK)
        ):
            archive.writestr(f"bots/{slug}-v{number}.zip", bytes(data))


def _versions(player: Player) -> QuerySet[BotVersion]:
    return BotVersion.objects.filter(Q(bot__owner=player) | Q(uploader=player)).order_by("pk")


def _json(value: Any) -> bytes:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False).encode()


def _account(player: Player) -> Row:
    user, row = player.user, subscriptions.find(player)
    open_sessions = sessions.open_sessions(user.pk, None)
    return {
        "name": player.name,
        "challengeable": player.challengeable,
        "open_data": player.open_data,
        "email": user.email,
        "created": player.created,
        "last_login": user.last_login,
        "sessions": [{"browser": session.browser, "since": session.since} for session in open_sessions],
        "digest": {"period": row.period, "language": row.language, "confirmed": row.confirmed},
        "limits": dict(player.quotas.values_list("name", "value")),
        "puzzles": Solver.objects.filter(player=player).values(*SOLVER).first(),
        "webhooks": list(player.webhooks.order_by("pk").values("url", "events", "created", "failures", "off")),
        "passkeys": list(player.passkeys.order_by("pk").values("name", "created", "last_used")),
        "notices": dict(player.notice_choices.values_list("kind", "way")),
        "keys": list(player.tokens.values("label", "prefix", "scope", "created", "last_used", "expires", "revoked")),
    }


def _lists(player: Player) -> Iterator[tuple[str, Iterable[Row]]]:
    bots, versions = player.bots.order_by("pk"), _versions(player)
    version = {"bot": F("version__bot__slug"), "version_number": F("version__number")}
    yield "bots", bots.values(*BOT, "created", bot=F("slug"))
    yield "versions", versions.values("number", *VERSION, bot_name=F("bot__slug"))
    yield "checks", Check.objects.filter(version__in=versions).order_by("pk").values(*CHECK, **version).iterator(500)
    rated = Rating.objects.filter(version__in=versions).order_by("pk")
    yield "ratings", rated.values(*RATING, game=F("pool__game"), options=F("pool__options"), **version)
    yield (
        "teams",
        player.memberships.order_by("pk").values(
            "role", "invited", "since", shown=F("is_public"), name=F("team__name")
        ),
    )
    yield (
        "offers",
        player.offers.order_by("bot").values("created", bot_name=F("bot__slug"), owner=F("bot__owner__name")),
    )
    yield "drafts", player.drafts.order_by("pk").values("bot", "language", "text", "updated").iterator(CHUNK)
    links = player.git_links.order_by("pk").values("url", "folder", "created", bot_name=F("bot__slug"))
    yield "git", links
    yield "fetches", player.fetches.order_by("pk").values(*FETCH, version_number=F("version__number")).iterator(500)
    yield "tries", _tries(player)
    yield "tunings", player.tunings.order_by("pk").values(*TUNING, **version).iterator(50)
    studies = player.studies.order_by("pk")
    yield "studies", studies.values("key", "game", "players", "options", "boards", "played", "begun", "decided", "why")
    yield "tables", _sat_at(player)
    challenges = player.table_challenges.order_by("pk")
    yield (
        "challenges",
        challenges.values("created", "answer", table_name=F("table__public_id"), by=F("challenger__name")),
    )
    answers = player.puzzle_answers.order_by("pk")
    yield "puzzles", answers.values("puzzle", "game", "answer", "solved", "created").iterator(500)
    mistakes = player.mistakes.order_by("pk")
    yield "mistakes", mistakes.values("puzzle", "line", "created", "answers", "box", "due").iterator(500)
    yield "classes", _classes(player)
    matches = Match.objects.filter(owner=player, kind=MatchKind.CHALLENGE).order_by("pk")
    yield "matches", matches.values("public_id", "status", "created", game=F("pool__game")).iterator(500)
    yield "analyses", _analyses(player)
    parts = Guest.objects.filter(player=player).order_by("pk")
    yield "events", parts.values("created", slug=F("event__slug"), name=F("event__name"))
    yield "contests", _contests(player)
    requests = player.requests.order_by("pk").values(
        *REQUEST,
        bot_name=F("bot__slug"),
        tournament_name=F("tournament__slug"),
        event_name=F("event__slug"),
        circuit_name=F("circuit__slug"),
    )
    yield "requests", requests
    about = {
        "match_name": F("match__public_id"),
        "tournament_name": F("tournament__slug"),
        "event_name": F("event__slug"),
    }
    yield "comments", player.comments.order_by("pk").values(*COMMENT, **about).iterator(500)
    yield "reports", player.reports.order_by("pk").values("comment", "reason", "created", "outcome").iterator(500)
    yield "blocks", player.blocks.order_by("pk").values("created", player=F("blocked__name"))
    follows = {"bot_name": F("bot__slug"), "tournament_name": F("tournament__slug"), "event_name": F("event__slug")}
    yield "follows", player.follows.order_by("pk").values("created", player_name=F("person__name"), **follows)
    yield "notices", player.notices.order_by("pk").values(*NOTICE).iterator(500)
    lines = LeagueEvent.objects.filter(subject=f"player:{player.name}").order_by("pk")
    yield "journal", lines.values("at", "kind", "actor", "data").iterator(500)


def _tries(player: Player) -> Iterator[Row]:
    rows = player.tries.filter(work__kind=MatchKind.TRY).order_by("pk")
    for row in rows.values("name", "language", "source", "created", "finished", "result").iterator(CHUNK):
        result = row["result"]
        yield {**row, "result": None if result is None else json.loads(zlib.decompress(bytes(result)))}


def _classes(player: Player) -> Iterator[Row]:
    for member in player.classes.select_related("school_class").order_by("pk"):
        handed_in = member.hand_ins.order_by("pk").values(
            *HAND_IN, number=F("assignment__number"), bot=F("version__bot__slug"), version_number=F("version__number")
        )
        own = {name: getattr(member, name) for name in ("role", "name", "number", "helped", "joined")}
        yield {"class": member.school_class.name, **own, "handed_in": list(handed_in)}


def _sat_at(player: Player) -> Iterator[Row]:
    columns = {name: F(f"table__{name}") for name in TABLE}
    rules = {"game": F("table__pool__game"), "options": F("table__pool__options")}
    # While others may play the same deals, nobody gets a replay of them (league.domain.tables.deals).
    played = Table.objects.filter(deals=OuterRef("table__deals"), status__in=LIVE)
    is_over = Q(table__deals_until__lte=clock.present()) & ~Exists(played)
    seats = player.seats.annotate(are_open=ExpressionWrapper(Q(table__deals="") | is_over, BooleanField()))
    rows = seats.order_by("table").values("are_open", seat=F("number"), **columns, **rules)
    for seat in rows.iterator(CHUNK):
        row: dict[str, Any] = dict(seat)
        records = bytes(row["records"]) if row.pop("are_open") else b""
        yield {**row, "records": json.loads(zlib.decompress(records)) if records else []}


def _analyses(player: Player) -> Iterator[Row]:
    for kind, model in (("analysis", Judgement), ("advice", Consultation)):
        rows = model._default_manager.filter(asked_by=player).order_by("pk")
        for row in rows.values("status", "created", match_name=F("match__public_id")).iterator(500):
            yield {"kind": kind, **row}
    searches = player.mistake_searches.order_by("pk").values(
        "created", "finished", match_name=F("judgement__match__public_id"), table_name=F("table__public_id")
    )
    for search in searches.iterator(500):
        yield {"kind": "mistakes", **search}


def _contests(player: Player) -> Iterator[Row]:
    for kind, rows in (
        ("tournament", player.tournaments.filter(event=None, season=None)),
        ("event", player.events),
        ("circuit", player.circuits),
    ):
        for row in rows.order_by("pk").values(*CONTEST):
            yield {"kind": kind, **row}
    entries = ArenaEntry.objects.filter(player=player).order_by("pk")
    for row in entries.values("points", "games", "wins", "ties", "place", slug=F("arena__slug"), entered=F("joined")):
        yield {"kind": "arena", **row}
