"""The cost of reading a large league: every kind of page and list, as a Markdown table, on PostgreSQL.

    .venv/bin/python benchmarks/site.py [--bots 10000] [--matches 100000] [--seed 1] [--only WORDS] [--weigh]

It fills a league (large_league.py), reproducible by the seed, and reads each address without a browser, and next to it a view of the same league that
does SELECT 1 behind the same middleware. Lists of the API are read with 100 rows, tournament pages are those of the largest tournaments, and owners
read private pages.

CPU is the time of the web process and its PostgreSQL backend together, the median of several reads. Shares are requests per second relative to SELECT
1. A *miss* is an answer that no cache holds, *kept* one from the response cache, *304* one that the client has. *first* is the first miss of a
process, which fills its process cache (`league.service.process_cache`). The aims: a miss takes at most 30 ms for a list of 100 rows and 100 ms for a
page.

`--weigh` measures no time: it reads each address once, and fails if an answer is too heavy, makes too many queries or is an error.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # Replace this folder, in which a module has the name of one of Python's own.

from benchmarks.large_league import BOARDS, CIRCUIT, CLASS, EVENT, FORMATS, GAME, LARGE, REAL, ROWS, FilledLeague  # noqa: E402

MOST_PACKED = 100_000  # Most bytes of any page or answer, compressed by gzip.
MOST_QUERIES = 40


@dataclass
class ReadCost:
    """The measurements of one address."""

    name: str
    path: str
    status: str = ""
    raw: int = 0  # Bytes.
    packed: int = 0  # Bytes after gzip.
    queries: int = 0
    first: float = 0.0  # CPU seconds of the first miss.
    miss: float = 0.0  # CPU seconds of a miss.
    hit: float | None = None  # CPU seconds of the same answer from the response cache; None if it is not stored
    same: float | None = None  # CPU seconds of a 304 answer.


class Reader:
    """Reads addresses in this process through the WSGI application, and measures."""

    def __init__(self) -> None:
        from django.db import connection
        from django.http import HttpResponse
        from django.urls import path

        import league.urls

        def select_1(request: Any) -> Any:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                return HttpResponse(b'{"one":%d}' % cursor.fetchone()[0], content_type="application/json")

        league.urls.urlpatterns.insert(0, path("select-1", select_1))
        from league.wsgi import application

        self.application = application  # A league.response_cache.ResponseCache.
        self.credentials: dict[str, str] = {}
        self.connection = connection
        self.ask("/select-1")

    def ask(self, path: str, **headers: str) -> tuple[str, dict[str, str], bytes]:
        """Return status, headers and body of an answer."""
        address, _, query = path.partition("?")
        start: list[Any] = []
        environ = {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": address,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            **self.credentials,
            **headers,
        }
        answer = self.application(environ, lambda status, lines, *_: start.extend((status, dict(lines))))
        body = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
        return start[0], start[1], body

    @property
    def backend(self) -> int:
        """Return the CPU clock of the server process of this connection."""
        self.connection.ensure_connection()  # The process is a new one if a page has closed the connection.
        return int(~self.connection.connection.info.backend_pid << 3 | 2)

    def cpu(self) -> float:
        """Return the CPU seconds of this process and its backend so far."""
        return time.process_time() + time.clock_gettime(self.backend)

    def sign_in(self, credentials: dict[str, str]) -> None:
        """Read with this session or token from now on."""
        self.credentials = credentials

    def seconds(self, path: str, times: int, **headers: str) -> float:
        """Return the CPU seconds of one read, measured over `times` reads."""
        began = self.cpu()
        for _ in range(times):
            self.ask(path, **headers)
        return (self.cpu() - began) / times

    def look(self, name: str, path: str) -> ReadCost:
        """Measure one address."""
        from django.test.utils import CaptureQueriesContext

        self.forget()
        first = self.seconds(path, 1)
        self.application.store.clear()
        with CaptureQueriesContext(self.connection) as queries:
            status, _headers, body = self.ask(path)
        read = ReadCost(name, path, status[:3], len(body), len(gzip.compress(body, 6)), len(queries), first)
        once = self.miss(path)
        times = max(1, min(30, int(0.3 / once)))
        read.miss = min(once, median(self.miss(path) for _ in range(times)))
        if len(self.application.store):
            tag = self.ask(path)[1]["ETag"]
            packed = {"HTTP_ACCEPT_ENCODING": "gzip"}
            read.hit = median(self.seconds(path, 20, **packed) for _ in range(5))
            read.same = median(self.seconds(path, 20, HTTP_IF_NONE_MATCH=tag) for _ in range(5))
        return read

    def forget(self) -> None:
        """Clear all caches of this process."""
        from league.service import process_cache

        self.application.store.clear()
        process_cache.clear()

    def miss(self, path: str) -> float:
        """Return the CPU seconds of a miss."""
        self.application.store.clear()
        return self.seconds(path, 1)


def addresses() -> dict[str, str]:
    """Return the addresses: pages, then lists of the API."""
    from league.domain.core import paging
    from league.domain.puzzles import shelf
    from league.models import Circuit, Consultation, Event, Party, Pool, Table, Tournament, Try

    consultation = Consultation.objects.select_related("version__bot").get()
    event, circuit = Event.objects.get(name=EVENT).slug, Circuit.objects.get(name=CIRCUIT).slug
    played = Party.objects.select_related("version__bot").filter(match__tournament__name=REAL).order_by("pk")[0].version
    pool = Pool.objects.filter(game=GAME).order_by("pk")[0].pk
    large = {cup.format: cup.slug for cup in Tournament.objects.filter(name__startswith="Large")}
    meet, knock_out, swiss = (large[name] for name in (*FORMATS, "swiss"))
    return {
        "home": "/",
        "games": "/g/",
        "game": f"/g/{GAME}/",
        "overall": "/overall/",
        "bots": "/bots/",
        "bot": "/bots/bot-1/",
        "encounter": "/bots/bot-1/vs/bot-2/",
        "player": "/players/player-1/",
        "matches": "/m/",
        "matches of a game": f"/m/?game={GAME}",
        "match": f"/m/{_match()}/",
        "tournaments": "/t/",
        "tournament": f"/t/{meet}/",
        "tournament, knock-out": f"/t/{knock_out}/",
        "tournament, Swiss": f"/t/{swiss}/",
        "standings as CSV": f"/t/{meet}/standings.csv",
        "events": "/e/",
        "event": f"/e/{event}/",
        "circuit": f"/c/{circuit}/",
        "version with audits": f"/bots/{played.bot.slug}/v1/",
        "bot with a judgement": f"/bots/{played.bot.slug}/",
        "match, judged": f"/m/{_match()}/?j=open",
        "match, a bot asked": f"/m/{_match()}/?b=1&s=0&w={consultation.version.bot.slug}&at=0",
        "board": f"/m/{_match()}/b/1/",
        "replay of a sitting": f"/m/{_match()}/replay.json?b=1&s=0",
        "player, news": "/players/player-1/news.atom",
        "TV": "/tv/",
        "puzzles": "/puzzles/",
        "puzzle": f"/puzzles/{next(iter(shelf.shelf().by_id))}/",
        "explorer": f"/g/{GAME}/?tab=explorer",
        "calendar": "/calendar/",
        "arena": "/arenas/arena-0/",
        "lobby": "/lobby/",
        "open data": "/data/",
        "search": "/search/?q=bot-12",
        "team": "/teams/team-0/",
        "class (its teacher)": f"/class/{CLASS}/",
        "mistakes (their player)": "/puzzles/mistakes/",
        "notices (their reader)": "/notices/",
        "documents": "/docs/protocol/",
        "status": "/status/",
        "account (its owner)": "/accounts/me/",
        "overview (an operator)": "/operators/",
        "search (an operator)": "/operators/?q=bot-",
        "person (an operator)": "/operators/?subject=player:player-2",
        "requests (their owner)": "/accounts/requests/",
        "editor (its author)": "/editor/",
        "tables (who sits)": "/play/",
        "table (who sits)": f"/tables/{Table.objects.get(shared=False).public_id}/",
        "try (its author)": f"/tries/{Try.objects.get().work.public_id}/",
        "new tournament (its owner)": f"/t/new/?game={GAME}",
        "API leaderboard": f"/api/v1/pools/{pool}/leaderboard?page_size=100",
        "API leaderboard, row 1,000": f"/api/v1/pools/{pool}/leaderboard?cursor={_deep(pool)}&page_size=100",
        "API overall": "/api/v1/overall?page_size=100",
        "API pools": "/api/v1/pools?page_size=100",
        "API history": f"/api/v1/pools/{pool}/history?page_size=100",
        "API games": "/api/v1/games",
        "API leaderboard, the active": f"/api/v1/pools/{pool}/leaderboard?show=active&page_size=100",
        "API leaderboard, those of the house": f"/api/v1/pools/{pool}/leaderboard?show=house&page_size=100",
        "API leaderboard, of an owner": f"/api/v1/pools/{pool}/leaderboard?owner=player-1&page_size=100",
        "API leaderboard, the fast": f"/api/v1/pools/{pool}/leaderboard?limit=fast&page_size=100",
        "API leaderboard, the small": f"/api/v1/pools/{pool}/leaderboard?limit=small&page_size=100",
        "API leaderboard, the open": f"/api/v1/pools/{pool}/leaderboard?limit=open&page_size=100",
        "API leaderboard, every version": f"/api/v1/pools/{pool}/leaderboard?every_version=true&page_size=100",
        "API leaderboard (a token)": f"/api/v1/pools/{pool}/leaderboard?page_size=100",
        "API bots": "/api/v1/bots?page_size=100",
        "API bots, row 1,000": f"/api/v1/bots?cursor={paging.write_cursor([1000], back=False)}&page_size=100",
        "API bots of an owner": "/api/v1/bots?owner=player-1&page_size=100",
        "API bots (a token)": "/api/v1/bots?page_size=100",
        "API versions": "/api/v1/versions?page_size=100",
        "API players": "/api/v1/players?page_size=100",
        "API matches": "/api/v1/matches?page_size=100",
        "API matches, row 100,000": f"/api/v1/matches?cursor={paging.write_cursor([100_000], back=False)}&page_size=100",
        "API matches of a game": f"/api/v1/matches?game={GAME}&page_size=100",
        "API matches of a rare game": "/api/v1/matches?game=brisca&page_size=100",
        "API matches of a bot": "/api/v1/matches?bot=bot-1&page_size=100",
        "API matches of a player": "/api/v1/matches?player=player-1&page_size=100",
        "API matches that wait": "/api/v1/matches?status=queued&page_size=100",
        "API matches of a tournament": f"/api/v1/matches?tournament={meet}&page_size=100",
        "API matches of a bot in a game": f"/api/v1/matches?bot=bot-1&game={GAME}&status=finished&page_size=100",
        "API matches (a token)": "/api/v1/matches?page_size=100",
        "API matches of a player (a token)": "/api/v1/matches?player=player-1&page_size=100",
        "API match (a token)": f"/api/v1/matches/{_match()}",
        "API match": f"/api/v1/matches/{_match()}",
        "API boards": f"/api/v1/matches/{_match()}/boards?page_size=100",
        "API replay": f"/api/v1/matches/{_match()}/boards/1/sittings/0/replay",
        "API judgement": f"/api/v1/matches/{_match()}/analysis/open",
        "API answers": f"/api/v1/matches/{_match()}/boards/1/sittings/0/seats/0/answers/{consultation.version.bot.slug}",
        "API audits": f"/api/v1/versions/{played.pk}/audits",
        "API ratings of a version": f"/api/v1/versions/{played.pk}/ratings?page_size=100",
        "API encounters": "/api/v1/bots/bot-1/versus/bot-2?page_size=100",
        "API formats": "/api/v1/formats",
        "API events": "/api/v1/events?page_size=100",
        "API event": f"/api/v1/events/{event}",
        "API circuits": "/api/v1/circuits?page_size=100",
        "API circuit": f"/api/v1/circuits/{circuit}",
        "API schema": "/api/v1/schema",
        "API tournaments": "/api/v1/tournaments?page_size=100",
        "API tournament": f"/api/v1/tournaments/{meet}",
        "crosstable as a picture": f"/t/{meet}/crosstable.png",
        "API entries": f"/api/v1/tournaments/{meet}/entries?page_size=100",
        "API standings": f"/api/v1/tournaments/{meet}/standings?page_size=100",
        "API rounds": f"/api/v1/tournaments/{meet}/rounds?page_size=100",
        "API standings, Swiss": f"/api/v1/tournaments/{swiss}/standings?page_size=100",
        "API bracket": f"/api/v1/tournaments/{knock_out}/bracket",
        "API choices": f"/api/v1/games/{GAME}/choices?page_size=100",
        "API tunings of a bot (a token)": "/api/v1/bots/bot-1/tunings?page_size=100",
        "API queue": "/api/v1/queue",
        "API versions of a bot": "/api/v1/bots/bot-1/versions?page_size=100",
        "API boss leagues of a bot": "/api/v1/bots/bot-1/leagues?page_size=100",
        "API analysis sums of a bot": f"/api/v1/bots/{played.bot.slug}/judged?page_size=100",
        "API comments": f"/api/v1/matches/{_match()}/boards/1/sittings/0/comments?page_size=100",
        "API boards of 50 matches": f"/api/v1/boards?match={_matches(meet)}&page_size=100",
        "API open data": "/api/v1/data?page_size=100",
        "API arenas": "/api/v1/arenas?page_size=100",
        "API standing of an arena": "/api/v1/arenas/arena-0/standing?page_size=100",
        "API lobby": "/api/v1/lobby?page_size=100",
        "API seasons": f"/api/v1/circuits/{circuit}/seasons?page_size=100",
        "API requests for an event": f"/api/v1/events/{event}/requests?page_size=100",
        "API requests for a circuit": f"/api/v1/circuits/{circuit}/requests?page_size=100",
        "API requests for a tournament": f"/api/v1/tournaments/{meet}/requests?page_size=100",
        "API challenges to a table (a token)": "/api/v1/tables/w0/challenges?page_size=100",
        "API own challenges (a token)": "/api/v1/me/challenges?page_size=100",
        "API own requests (a token)": "/api/v1/me/requests?page_size=100",
        "API own notices (a token)": "/api/v1/me/notices?page_size=100",
        "API own blocks (a token)": "/api/v1/me/blocks?page_size=100",
        "API own tokens (a token)": "/api/v1/tokens?page_size=100",
        "API own offers (a token)": "/api/v1/me/offers?page_size=100",
        "API own teams (a token)": "/api/v1/me/teams?page_size=100",
        "API history of a team (a token)": "/api/v1/teams/team-0/history?page_size=100",
        "API own classes (a token)": "/api/v1/me/classes?page_size=100",
        "API marks of a class (a token)": f"/api/v1/classes/{CLASS}/marks?page_size=100",
        "API assignments (a token)": f"/api/v1/classes/{CLASS}/assignments?page_size=100",
        "API hand-ins (a token)": f"/api/v1/classes/{CLASS}/assignments/1/hand-ins?page_size=100",
        "API journal (an operator)": "/api/v1/operators/journal?page_size=100",
    }


def lists_left_out() -> list[str]:
    """Return the lists of the API that no address reads."""
    from django.urls import resolve

    from league.api import urls
    from league.api.http.base import ListView

    read = {resolve(path.partition("?")[0]).url_name for path in addresses().values() if path.startswith("/api/")}
    classes = {pattern.name: getattr(pattern.callback, "cls", object) for pattern in urls.urlpatterns}
    return sorted(
        name
        for name, view in classes.items()
        if issubclass(view, ListView) and hasattr(view, "get") and name not in read
    )


def _deep(pool: int) -> str:
    """Return the cursor in the middle of a leaderboard of 2,000 bots."""
    from league.domain.core import paging
    from league.domain.ratings.leaderboards import BEST
    from league.models import Rating

    row = Rating.objects.filter(pool=pool).order_by(*BEST.names)[Rating.objects.filter(pool=pool).count() // 2]
    return paging.write_cursor(BEST.values(row), back=False)


def _match() -> str:
    from league.models import Match

    return Match.objects.get(tournament__name=REAL).public_id


def _matches(slug: str) -> str:
    """Return the ids of enough matches for 100 boards."""
    from league.models import Match

    rows = Match.objects.filter(tournament__slug=slug, status="finished").order_by("pk")
    return ",".join(rows.values_list("public_id", flat=True)[: ROWS // BOARDS])


def _signed() -> Callable[[str], dict[str, str]]:
    """Return a function that gives the headers that the read of a name has: a session of player-1 or of an operator, a token or nothing."""
    from league.domain.people import players, tokens
    from league.models import Player

    owner = Player.objects.get(name="player-1")
    owner.tokens.filter(label="benchmark").delete()
    token = {"HTTP_AUTHORIZATION": f"Bearer {tokens.create(owner, 'benchmark')[1]}"}
    session = {"HTTP_COOKIE": _cookie("player-1")}
    operator = Player.objects.filter(name="olga").first() or players.create("olga", staff=True)
    kinds = {"(a token)": token, "(an operator)": {"HTTP_COOKIE": _cookie(operator.name)}}
    return lambda name: kinds.get(name[name.rfind("(") :], session) if name.endswith(")") else {}


def _cookie(name: str) -> str:
    """Return the session cookie of a player."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username=name))
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def measure(only: Sequence[str]) -> None:
    """Print the table."""
    from django.db import connection

    connection.settings_dict["CONN_MAX_AGE"] = None  # One backend throughout, because its clock is read.
    reader = Reader()
    credentials_of = _signed()
    floor = median(reader.seconds("/select-1", 100) for _ in range(5))
    print(f"\nSELECT 1: {1e6 * floor:.0f} us of CPU\n")
    print("| what | status | kB | kB gzip | queries | first, CPU ms | miss, CPU ms | miss | kept | 304 |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, path in addresses().items():
        if only and not any(word in name for word in only):
            continue
        reader.sign_in(credentials_of(name))
        read = reader.look(name, path)
        reader.sign_in({})
        base = median(reader.seconds("/select-1", 30) for _ in range(3))
        shares = [f"{100 * base / seconds:.0f} %" if seconds else "-" for seconds in (read.miss, read.hit, read.same)]
        print(
            f"| {name} | {read.status} | {read.raw / 1000:.1f} | {read.packed / 1000:.1f} | {read.queries} |"
            f" {1000 * read.first:.1f} | {1000 * read.miss:.1f} | {' | '.join(shares)} |",
            flush=True,
        )


def weigh() -> list[str]:
    """Return the errors of the answers: wrong status, too heavy, too many queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    reader = Reader()
    credentials_of = _signed()
    wrong = [f"{name}: no address reads this list" for name in lists_left_out()]
    for name, path in addresses().items():
        reader.sign_in(credentials_of(name))
        reader.forget()
        with CaptureQueriesContext(connection) as queries:
            status, _headers, body = reader.ask(path)
        packed = len(gzip.compress(body, 6))
        print(f"{name}: {status[:3]}, {packed / 1000:.1f} kB gzip, {len(queries)} queries", flush=True)
        if status[:3] != "200" or packed > MOST_PACKED or len(queries) > MOST_QUERIES:
            wrong.append(f"{name} ({path}): {status}, {packed} bytes gzip, {len(queries)} queries")
    return wrong


def work(words: argparse.Namespace) -> None:
    """Fill and read the league, in the process that has the database."""
    from django.db import connection

    from league.models import Match

    if not Match.objects.exists():
        began = time.process_time()
        FilledLeague(words.bots, words.matches, words.seed)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        print(f"filled in {time.process_time() - began:.0f} CPU s: {words.bots} bots, {Match.objects.count()} matches")
    if not words.weigh:
        measure(words.only)
    elif wrong := weigh():
        sys.exit("too much, or not there:\n" + "\n".join(wrong))


def read_words() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=10_000)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="lines whose name holds one of these words")
    parser.add_argument("--weigh", action="store_true", help="measure no time, and fail for what is too much")
    parser.add_argument(
        "--database",
        default="",
        help="a filled database, or an empty one to fill and keep; without it one is made and removed",
    )
    return parser.parse_args()


def main() -> None:
    """Create a database or take the named one, and run `work` with it."""
    words = read_words()
    if os.environ.get("SITE_BENCHMARK"):
        import django

        django.setup()
        work(words)
        return
    from tests.support.postgres import PostgresServer

    server = None if words.database else PostgresServer(durable=True)
    many = dict.fromkeys(
        ("API_ANON_PER_MINUTE", "API_USER_PER_MINUTE", "HEAVY_PAGES_PER_MINUTE", "DOWNLOADS_PER_MINUTE"), "100000000"
    )
    environment = {
        **os.environ,
        **many,
        "DATABASE_URL": words.database or (server.create_database() if server else ""),
        "SECRET_KEY": "only for this benchmark",
        "ALLOWED_HOSTS": "localhost",
        "HTTPS": "0",
        "MAX_ENTRIES": str(LARGE),
        "QUOTA_TOURNAMENTS": "1000000",
        "QUOTA_BOTS": "1000000",
        "QUOTA_BOARDS": "1000000000",
        "UPLOADS_PER_HOUR": "1000",
        "LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "league.settings",
        "SITE_BENCHMARK": "1",
    }
    try:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True
        )
        subprocess.run([sys.executable, __file__, *sys.argv[1:]], cwd=ROOT, env=environment, check=True)
    finally:
        if server:
            server.close()


if __name__ == "__main__":
    main()
