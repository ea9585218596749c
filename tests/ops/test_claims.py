"""The sentences of documents and pages, each against the code: a sentence that changes is changed here, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, get_resolver, resolve

import engine
from engine import cli, judging, lessons, puzzles, sprt, studying
from engine.cards.chance import bot_seed
from engine.game import declared
from engine.packages import archive, fetching, manifest
from engine.runner import audit, limits, metering, protocol, trial
from engine.sandbox import BuildLimits
from league import response_cache, tasks
from league.api.http import cursors, parsers, problems
from league.api.http import settings as api
from league.api.http.index import operations
from league.domain.audits import sampling
from league.domain.bots import bots, challenges, consent, digests, fetches, tries
from league.domain.core import idempotency, names, paging
from league.domain.jobs import worker
from league.domain.jobs.handlers import consultations, queued, requests
from league.domain.jobs.handlers import puzzles as puzzle_jobs
from league.domain.jobs.handlers.studies import StudyHandler
from league.domain.jobs.handlers.tunings import TuningHandler
from league.domain.judgements import asking, reading
from league.domain.ladders import drawing, version_tests
from league.domain.matches import broadcast, embargoes, estimates, health, leases, matches, snapshot, validation
from league.domain.notices import letters, webhooks
from league.domain.people import guests, subscriptions
from league.domain.ratings import daily, idle, refits
from league.domain.studies import asking as study_asking
from league.domain.studies import parts
from league.domain.tables import guests as guest_tables
from league.domain.tables import holding, levels
from league.domain.tables import standing as table_ratings
from league.domain.tournaments import brackets, progress, releases, tournaments
from league.domain.tunings import asking as tuning_asking
from league.domain.tunings import steps
from league.domain.upkeep import cases, open_data
from league.pure import bosses as boss_rules
from league.pure import portable
from league.pure.pairing import movements, standing, telling, whist
from league.pure.rating import bradley_terry, collusion, leaderboard, sketch, stopping
from league.service import posting, topics, web_guard, web_worker
from league.web.bots import highlights
from league.web.common import limits as web_limits
from league.web.games import lab
from league.web.pages import search, sitemaps
from league.web.tournaments import crosstable, event_views
from tests.hostile.acts import ACTS, MOMENTS
from tests.support.compose import TOP

KIB, MIB = 1024, 1024 * 1024
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
USUAL = limits.Limits()
ROLES = 4  # Two tiers, each as root and as an ordinary user.


NGINX = (TOP / "docker" / "proxy" / "nginx.conf").read_text(encoding="utf-8")


def has_nginx(*directives: str) -> bool:
    """Return True if the shipped configuration has each of these directives."""
    return all(re.search(rf"^\s*{re.escape(line)};", NGINX, re.MULTILINE) for line in directives)


def boards_after(days: int) -> int:
    """Return the boards of a bot after a number of days on a ladder, if its tables take no time."""
    boards = seconds = 0
    while seconds <= days * DAY.total_seconds():
        boards += drawing.BOARDS
        seconds += round(standing.rest_s(boards))
    return boards


def sizes_of_matches() -> set[tuple[int, int]]:
    """Return sides (0: an elimination) and usual number of boards of every table."""
    sizes = set()
    for key in engine.games():
        for seats in declared(key).players:
            game = engine.load(key, players=seats)
            sides = 0 if game.board_deals is None and len(game.sides) > 2 else len(game.sides)
            sizes.add((sides, tournaments.default_boards(key, seats)))
    return sizes


def players() -> set[int]:
    return {number for key in engine.games() for number in declared(key).players}


# Document, sentence (without line breaks), and what makes it so.
CLAIMS: list[tuple[str, str, Callable[[], bool]]] = [
    ("README.md", "any of the twenty-one games", lambda: len(engine.games()) == 21),
    ("docs/play.md", "Each of the 21 games has a page", lambda: len(engine.games()) == 21),
    (
        "docs/play.md",
        "| points | 11 | 10 | 4 | 3 | 2 | 0 |",
        lambda: [engine.load("partnership").rules.rank_points.get(r, 0) for r in "13RCS7"] == [11, 10, 4, 3, 2, 0],
    ),
    ("docs/play.md", "after some minutes they leave", lambda: MINUTE.total_seconds() <= settings.TABLE_REST_S <= 600),
    (
        "league/templates/pages/research.html",
        "from two to seven players",
        lambda: (min(players()), max(players())) == (2, 7),
    ),
    (
        "league/templates/games/games.html",
        "the same forty cards, king-and-horse songs in most of them",
        lambda: (
            {engine.load(key).pack.size for key in engine.games()} == {10}
            and len(engine.games()) / 2
            < sum(engine.load(key).rules.hand_songs != "none" for key in engine.games())
            < len(engine.games())
        ),
    ),
    ("docs/api.md", "([bot packages](bot-package.md)), at most 10 MiB", lambda: archive.MAX_BYTES == 10 * MIB),
    (
        "docs/api.md",
        "body above 256 KiB (uploads: 10 MiB; the connection ends above 16 MiB)",
        lambda: (parsers.MOST_JSON, web_worker.MOST_BODY) == (256 * KIB, 16 * MIB),
    ),
    (
        "docs/api.md",
        "`page_size` is 1 to 100 (default 50)",
        lambda: (cursors.MAX_SIZE, paging.DEFAULT_SIZE) == (100, 50),
    ),
    (
        "docs/api.md",
        "600 requests a minute for a player, 120 for an address without valid token, 60 uploads an hour",
        lambda: api.API_RATES == {"user": (600, 60), "anon": (120, 60), "upload": (60, 3600), "remote": (1800, 60)},
    ),
    ("docs/api.md", "Idempotency keys hold for a day", lambda: idempotency.KEPT == DAY),
    (
        "docs/api.md",
        "kept for a week. Limits: `QUOTA_TRIES` an hour, one at a time, 64 KB",
        lambda: (tries.KEPT, tries.MOST_SOURCE) == (7 * DAY, 64 * KIB),
    ),
    ("docs/architecture.md", "plays one board, 20 s at most", lambda: tries.MOST_S == 20),
    (
        "docs/architecture.md",
        "a try of 20 boards, 60 s at most",
        lambda: (tries.SERIES, tries.MOST_SERIES_S) == (20, 60),
    ),
    ("docs/bot-package.md", "public: 1 to 60 visible characters", lambda: manifest.MAX_NAME == 60),
    ("docs/bot-package.md", "| size, packed and unpacked | 10 MiB | | files | 500 |", lambda: archive.MAX_FILES == 500),
    (
        "docs/bot-package.md",
        "unpacked at most 100 times the packed size (above 64 KiB)",
        lambda: (archive.MAX_RATIO, archive.RATIO_FROM) == (100, 64 * KIB),
    ),
    ("docs/bot-package.md", "120 bytes, 8 folders deep", lambda: (archive.MAX_NAME, archive.MAX_DEPTH) == (120, 8)),
    (
        "docs/bot-package.md",
        "| 5 s | | a decision | 0.5 s, then from a bank of 3 s for the whole pass | | memory | 256 MiB | | threads | 16,",
        lambda: (USUAL.start_s, USUAL.move_s, USUAL.bank_s, USUAL.memory_mb, USUAL.threads) == (5, 0.5, 3, 256, 16),
    ),
    (
        "docs/bot-package.md",
        "| a line to or from the referee | 64 KiB | | stored stderr | 16 KiB a process |",
        lambda: (USUAL.line_kib * KIB, USUAL.stderr_kib) == (protocol.MAX_LINE, 16),
    ),
    (
        "docs/protocol.md",
        "A **wall-clock cap** of four times the CPU budget plus two seconds",
        lambda: (USUAL.wall_factor, USUAL.wall_extra_s) == (4, 2),
    ),
    ("docs/protocol.md", "nesting up to 16", lambda: protocol.MAX_DEPTH == 16),
    (
        "docs/protocol.md",
        "no number beyond 64 bits",
        lambda: 10**protocol.MAX_DIGITS < 2**63 and bot_seed(b"", "", 0, 0) < 2**31,
    ),
    ("docs/protocol.md", "the fourth strike of a pass is a `timeout`", lambda: limits.STRIKES == 3),
    ("docs/fairness.md", "`tests/hostile/acts.py` lists 87 acts", lambda: len(ACTS) == 87),
    ("docs/fairness.md", "`make soak` all 1,392", lambda: len(ACTS) * len(MOMENTS) * ROLES == 1392),
    (
        "docs/ratings.md",
        "It keeps an unbeaten bot finite (10–0 becomes 11–1: 417 Elo)",
        lambda: bradley_terry.EVEN_BOARDS == 1,
    ),
    (
        "docs/ladders.md",
        "Below 48 boards a version plays as soon as a worker is free, at most two tables at once",
        lambda: (telling.NEW, standing.TABLES) == (48, 2),
    ),
    (
        "docs/ladders.md",
        "rests** 10 minutes for each 48 boards it has, at most a day",
        lambda: (standing.REST_S, standing.MOST_REST_S) == (600, 86_400),
    ),
    ("docs/ladders.md", "An opponent met n times at the last 16 tables", lambda: standing.RECENT == 16),
    ("docs/ladders.md", "One table in eight is drawn evenly", lambda: telling.FAR == 1 / 8),
    (
        "docs/ladders.md",
        "everything else in the queue included, and with lower priority (−2)",
        lambda: (drawing.AHEAD, drawing.PRIORITY) == (2, -2),
    ),
    (
        "docs/operations/queue.md",
        "at most 500 waiting matches, or 20 a worker if that is more",
        lambda: (progress.WINDOW, progress.WINDOW_OF_WORKER) == (500, 20),
    ),
    (
        "docs/operations/queue.md",
        "A bot with a fault in each of three matches in a row is paused",
        lambda: health.FAULTS == 3,
    ),
    (
        "docs/operations/queue.md",
        "further tests follow after 10 minutes, an hour, six, a day",
        lambda: list(health.PAUSES) == [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY],
    ),
    ("docs/operations/queue.md", "begins at the next longer pause, for a week", lambda: health.MEMORY == 7 * DAY),
    (
        "docs/operations/queue.md",
        "Slow validations and audits are given back instead, at most three times",
        lambda: leases.MOST_YIELDS == 3,
    ),
    ("docs/operations/players.md", "tests wait at most a day (`bot.hold_ended`)", lambda: bots.HOLD == DAY),
    ("docs/operations/players.md", "owner pauses a bot again within a week", lambda: bots.HOLD_AGAIN == 7 * DAY),
    (
        "docs/operations/players.md",
        "a confirmation link, valid for three days and at most every ten minutes",
        lambda: (subscriptions.CONFIRM_WITHIN, subscriptions.ASK_AGAIN) == (3 * DAY, 10 * MINUTE),
    ),
    (
        "docs/operations/players.md",
        "sends 20 digests and 20 others at most. A digest is due a quarter of an hour after the day or week ended (UTC). "
        "One player gets 20 letters at once a day at most",
        lambda: (letters.AFTER, letters.BATCH, letters.MOST_A_DAY) == (15 * MINUTE, 20, 20),
    ),
    (
        "docs/operations/install.md",
        "`client_header_timeout 10s`, `client_body_timeout 10s`, `proxy_request_buffering on`",
        lambda: has_nginx("client_header_timeout 10s", "client_body_timeout 10s", "proxy_request_buffering on"),
    ),
    (
        "docs/operations/install.md",
        "`limit_conn` by client (IPv6: by /64)",
        lambda: (
            has_nginx(
                "limit_conn address 40",
                "limit_conn_zone $client zone=address:10m",
                f"limit_conn listeners {settings.LIVE_PER_ADDRESS}",
            )
            and r"(?<network>.{8}).{8}$" in NGINX
        ),
    ),
    (
        "docs/operations/install.md",
        "bodies above 16 MiB, the site's own limit",
        lambda: has_nginx(f"client_max_body_size {web_worker.MOST_BODY // MIB}m"),
    ),
    (
        "docs/operations/install.md",
        "`proxy_buffering off`, a read timeout above 15 s, and HTTP/2",
        lambda: has_nginx("proxy_buffering off", "proxy_read_timeout 60s", "listen 443 ssl http2"),
    ),
    (
        "docs/operations/install.md",
        "A web process holds 500 connections, 100 of one client",
        lambda: (web_guard.CONNECTIONS, web_guard.PER_CLIENT) == (500, 100),
    ),
    (
        "docs/audits.md",
        "has waited for an hour goes before matches, for a tenth",
        lambda: (leases.AUDITS_WAIT, worker.AUDITS.share) == (HOUR, 0.1),
    ),
    ("docs/audits.md", "less than once in a million", lambda: audit.UNLIKELY == 1e-6),
    (
        "docs/audits.md",
        "rose by 50 Elo in its last 20 matches of a pool | five times as many",
        lambda: (sampling.RISE_ELO, sampling.RECENT, sampling.RISING) == (50, 20, 5),
    ),
    ("docs/tournaments.md", "one match of 1 to 16 boards", lambda: challenges.MOST_BOARDS == 16),
    ("docs/tournaments.md", "With `pace_s` (15 to 3600 seconds a board)", lambda: releases.PACE_S == (15, 3600)),
    ("docs/tournaments.md", "it begins ten seconds after the owner", lambda: event_views.SOON.total_seconds() == 10),
    ("docs/tournaments.md", "k > 2: C(n,k) tables up to 256", lambda: movements.MOST_TABLES == 256),
    (
        "docs/tournaments.md",
        "(1000 draws from the fit); `cycles` is then the cap",
        lambda: (stopping.DRAWS, stopping.TIED) == (1000, 0.95),
    ),
    (
        "docs/tournaments.md",
        "4, 8, ... 28 entries and primes 5, 13, 17, 29, ...",
        lambda: set(whist.STARTERS) == set(range(4, 29, 4)),
    ),
    ("docs/ladders.md", "**All matches have 8 boards**", lambda: drawing.BOARDS == version_tests.BOARDS == 8),
    (
        "docs/ladders.md",
        "about 330 boards on the first day, 1,800 in a month",
        lambda: abs(boards_after(1) - 330) <= 16 and abs(boards_after(30) - 1800) <= 50,
    ),
    (
        "docs/ladders.md",
        "decides between 0 and 30 Elo of a board, wrong at most one time in twenty. It also ends at 1,000 boards",
        lambda: (sprt.bounds(0.05, 0.05), 1000) == (version_tests.BOUNDS, version_tests.CAP),
    ),
    (
        "docs/boss-leagues.md",
        "from 24 boards on and ends after 400 boards at the latest",
        lambda: (boss_rules.FIRST, boss_rules.CAP, boss_rules.ELO1) == (24, 400, 60),
    ),
    (
        "docs/boss-leagues.md",
        "with a chance of 3% / *k*². All attempts together stay below 5%",
        lambda: (round(boss_rules.error_rate(1), 2), boss_rules.ALPHA) == (0.03, 0.05),
    ),
    ("docs/boss-leagues.md", "one table in eight is a test", lambda: drawing.BOSS_SHARE == 8),
    (
        "docs/tables.md",
        "shown from ten boards on, from the latest 200 tables",
        lambda: (table_ratings.PROVISIONAL, table_ratings.MOST_TABLES) == (10, 200),
    ),
    (
        "docs/tables.md",
        "very easy `random`, normal `greedy`, hard `counting`, champion `champion`",
        lambda: list(levels.BOTS.values()) == ["random", "greedy", "counting", "champion"],
    ),
    (
        "docs/site.md",
        "its three biggest wins and losses in the latest 50 matches",
        lambda: (highlights.MOST, highlights.LATEST) == (3, 50),
    ),
    ("docs/site.md", "at most nine rows of each kind", lambda: search.MOST + 1 == 9),
    ("docs/site.md", "A page of rounds has at most 1,000 matches", lambda: brackets.MOST_MATCHES == 1000),
    (
        "docs/site.md",
        "a blunder 20 points, half a game",
        lambda: (reading.BLUNDER["points"], reading.BLUNDER["games"]) == (20, 500),
    ),
    ("docs/site.md", "asks for a card in six positions", lambda: len(lessons.POSITIONS) == 6),
    (
        "docs/ratings.md",
        "fewer than 30 boards or 3 opponents (all, in a smaller field), not connected to the field, or a standard deviation from 60 Elo",
        lambda: (
            (leaderboard.PROVISIONAL_BOARDS, leaderboard.PROVISIONAL_OPPONENTS, leaderboard.PROVISIONAL_SD)
            == (30, 3, 60)
        ),
    ),
    (
        "docs/ratings.md",
        "give or take 2 logits (347 Elo)",
        lambda: round(bradley_terry.GROUP_SD * leaderboard.ELO) == 347,
    ),
    ("docs/ratings.md", "1000 + 173.7 (θ − θ of the anchor)", lambda: round(leaderboard.ELO, 1) == 173.7),
    ("docs/ratings.md", "idle | no counted match for 30 days", lambda: idle.AFTER == 30 * DAY),
    ("docs/ratings.md", "gained the most, at least 10 Elo", lambda: daily.RISE == 10),
    (
        "docs/collusion.md",
        "From 32 boards and 4.5 standard deviations on, the pair is a **case**",
        lambda: (collusion.LEAST_BOARDS, collusion.SURPRISE) == (32, 4.5),
    ),
    (
        "docs/collusion.md",
        "24 of their latest matches and 24 of the same versions against others, for two pairs",
        lambda: (cases.EVIDENCE, cases.WATCHED_A_DAY) == (24, 2),
    ),
    (
        "docs/collusion.md",
        "from 32 boards of both kinds on. A tenth",
        lambda: (collusion.LEAST_JUDGED, collusion.STYLE_LOSS) == (32, 0.1),
    ),
    (
        "docs/collusion.md",
        "and half of those of the results, are a **case** for people from 3.9 on",
        lambda: (
            collusion.Throwing(32, 2, 1, 2.9).makes_a_case(2) and not collusion.Throwing(32, 2, 1, 2.8).makes_a_case(2)
        ),
    ),
    (
        "docs/collusion.md",
        "by one standard deviation on 32 boards or more",
        lambda: (collusion.WATCHED, collusion.LEAST_BOARDS) == (1, 32),
    ),
    (
        "docs/ratings.md",
        "Elo and margins to 0.0001, strengths, chances and scores to a millionth",
        lambda: (portable.ELO_DIGITS, portable.DIGITS) == (4, 6),
    ),
    (
        "docs/ratings.md",
        "more than 300 versions (`RATINGS_AT_ONCE`)",
        lambda: (settings.RATINGS_AT_ONCE, settings.RATINGS_FIT_S, settings.RATINGS_RANK_S) == (300, 3, 30),
    ),
    ("docs/ratings.md", "rows that moved by .05 Elo", lambda: refits.MOVED == 0.05),
    ("docs/ratings.md", "the first was silent for 20 seconds", lambda: refits.KEEP.total_seconds() == 20),
    ("docs/ratings.md", "Above 1,000 bots (`LARGE`) no matrix", lambda: leaderboard.LARGE == 1000),
    ("docs/ratings.md", "Standard errors come from 128 random signs a row", lambda: sketch.SIGNS == 128),
    (
        "docs/search.md",
        "gives away at least ten points (a quarter of a game, one mark), with 99 % certainty",
        lambda: (puzzles.MARGIN, puzzles.CERTAIN) == ({"points": 10, "games": 250}, 2.58),
    ),
    (
        "docs/search.md",
        "Twelve deals choose the decision and its best card; 64 others prove the margin",
        lambda: (puzzles.SCREEN, puzzles.DEALS) == (12, 64),
    ),
    (
        "docs/search.md",
        "at most three a match, `PUZZLES_PER_DAY` (20) in 24 hours; the latest 500 are kept",
        lambda: (puzzle_jobs.PER_MATCH, settings.PUZZLES_PER_DAY, puzzle_jobs.MOST) == (3, 20, 500),
    ),
    ("docs/search.md", "with 1 GB of memory and `JUDGE_CPU_S` core seconds", lambda: judging.MEMORY == 1 << 30),
    (
        "docs/operations/queue.md",
        "After two minutes they go before ladder matches, for at most half",
        lambda: (requests.PATIENCE, requests.RequestHandler.allowance.share) == (2 * MINUTE, 0.5),
    ),
    ("docs/search.md", "can be requested again after 30 days", lambda: asking.FAILED_DAYS == 30),
    ("docs/search.md", "After two minutes the answers so far are kept", lambda: consultations.MOST_S == 120),
    (
        "docs/luck.md",
        "| two sides | 16 | | 3 seats: points; chips or marks | 8; 16 | | 4 seats: points; chips or marks | 6; 12 |",
        lambda: (
            sizes_of_matches() <= {(2, 16), (3, 8), (3, 16), (4, 6), (4, 12), (5, 4), (5, 8), (6, 4), (6, 8), (0, 4)}
        ),
    ),
    (
        "docs/luck.md",
        "three in partnership Tute",
        lambda: round(1 / (1 - lab.reports_of("partnership")[0]["measures"]["luck"][0])) == 3,
    ),
    (
        "docs/operations/queue.md",
        "at most 32, or a second of expected work",
        lambda: (snapshot.BATCH, leases.SHORT_S) == (32, 1),
    ),
    (
        "docs/operations/queue.md",
        "(20 minutes for a request, 11 for puzzles and mistakes)",
        lambda: (
            (requests.RequestHandler.terms.limit, puzzle_jobs.PuzzleHandler.terms.limit) == (20 * MINUTE, 11 * MINUTE)
        ),
    ),
    (
        "docs/operations/queue.md",
        "after two attempts (tables: three in a row) the job is given up",
        lambda: (
            (requests.RequestHandler.terms.attempts, puzzle_jobs.PuzzleHandler.terms.attempts, holding.TERMS.attempts)
            == (2, 2, 3)
        ),
    ),
    (
        "docs/operations/queue.md",
        "**Puzzles** come after everything else, but get a tenth",
        lambda: puzzle_jobs.PuzzleHandler.allowance.share == 0.1,
    ),
    (
        "docs/operations/queue.md",
        "queued again after 1, 10, 60, 360 minutes, then every 1,440",
        lambda: [pause / MINUTE for pause in matches.PAUSES] == [1, 10, 60, 360, 1440],
    ),
    ("docs/operations/queue.md", "from the last 50 matches of the game", lambda: estimates.RECENT == 50),
    ("docs/operations/queue.md", "take 1.5 times the average", lambda: snapshot.SLOW == 1.5),
    ("docs/operations/queue.md", "take more than 5 s for each sitting", lambda: queued.SLOW_S == 5),
    (
        "docs/operations/queue.md",
        "Games not begun after 300 s are refused; a bot that thinks long meets fewer boards (8 s a conversation)",
        lambda: (validation.MOST_S, trial.PATIENCE_S) == (300, 8),
    ),
    (
        "docs/operations/queue.md",
        "play 16 more boards, or 250 decisions, in one process",
        lambda: (trial.MOST_LONG, trial.DECISIONS) == (16, 250),
    ),
    (
        "docs/editor.md",
        "one of them a series, and a number starts an hour, of all and of one address (a series counts as five)",
        lambda: tries.SERIES_COUNTS == 5,
    ),
    ("docs/operations/queue.md", "only wake workers; at most 64 wait", lambda: tasks.HINTS == 64),
    ("docs/tournaments.md", "a request expires after 30 days", lambda: consent.OPEN_FOR == 30 * DAY),
    ("docs/tournaments.md", "the old name 90 days", lambda: names.HELD == 90 * DAY),
    (
        "docs/tournaments.md",
        "withhold its replays until a given time, at most a year ahead",
        lambda: embargoes.MOST_BY_OWNER == 365 * DAY,
    ),
    ("docs/tables.md", "`TABLE_AWAY_S` (30 min) per answer", lambda: settings.TABLE_AWAY_S == 1800),
    ("docs/tables.md", "after `TABLE_REST_S` (1 min) the worker is released", lambda: settings.TABLE_REST_S == 60),
    (
        "docs/tables.md",
        "a class alone has half of them (25 by default)",
        lambda: (settings.TABLES, settings.GUEST_TABLES) == (100, 50),
    ),
    ("docs/tables.md", "of those idle for two minutes", lambda: guest_tables.IDLE == 2 * MINUTE),
    (
        "docs/tables.md",
        "those that ended within the hour; the rest is removed after a day",
        lambda: (guest_tables.KEEP, guests.KEPT) == (HOUR, DAY),
    ),
    ("docs/site.md", "a page of it has 50 rows", lambda: paging.DEFAULT_SIZE == 50),
    (
        "docs/site.md",
        "A crosstable of more than 24 entries is shown in windows of 24 rows and columns",
        lambda: crosstable.WINDOW == 24,
    ),
    ("docs/site.md", "No answer is given for longer than 10 seconds", lambda: response_cache.MAX_AGE_S == 10),
    (
        "docs/site.md",
        "Answers are in the memory of each process, at most 64 MB",
        lambda: response_cache.MAX_BYTES == 64 * MIB,
    ),
    ("docs/site.md", "The sitemap has parts of 5,000 keys", lambda: sitemaps.SIZE == 5000),
    ("docs/site.md", "At most eight topics", lambda: topics.MOST == 8),
    ("docs/site.md", "It reads the latest 300 rated matches", lambda: digests.MOST == 300),
    ("docs/site.md", "Time is cut into slots of two minutes", lambda: broadcast.SLOT_S == 120),
    (
        "docs/site.md",
        "the eight most interesting of the latest 24 take turns",
        lambda: (broadcast.TURNS, broadcast.LATEST) == (8, 24),
    ),
    ("docs/site.md", "(winner rated 100 Elo or more below)", lambda: broadcast.UPSET == 100),
    (
        "league/templates/pages/privacy.html",
        "After a log-in its address is remembered for 30 days",
        lambda: timedelta(seconds=web_limits.KNOWN_S) == 30 * DAY,
    ),
    (
        "league/templates/pages/privacy.html",
        "requests are counted by address for at most an hour",
        lambda: max(seconds for _, seconds in (*settings.LIMITS.values(), *api.API_RATES.values())) == 3600,
    ),
    ("league/templates/pages/privacy.html", "are removed after a day, unless you sign up", lambda: guests.KEPT == DAY),
    (
        "league/templates/pages/privacy.html",
        "for 30 days what was sent to a webhook",
        lambda: webhooks.KEPT == 30 * DAY,
    ),
    (
        "docs/webhooks.md",
        "within ten seconds counts. Otherwise it is sent again after 1, 5 and 30 minutes, 2, 8 and 16 hours",
        lambda: (
            posting.ALL_S == 10 and [pause / MINUTE for pause in webhooks.PAUSES] == [1, 5, 30, 2 * 60, 8 * 60, 16 * 60]
        ),
    ),
    (
        "docs/webhooks.md",
        "After 30 failures in a row the webhook is switched off",
        lambda: (webhooks.MOST_FAILURES, webhooks.MOST) == (30, 5),
    ),
    (
        "docs/tuning.md",
        "| boards of a search | 400 to 10,000 | | time of the workers | 3 hours for the search, 4 in all | | stored tunings of a bot | 20 |",
        lambda: (
            (tuning_asking.LEAST, tuning_asking.MOST, tuning_asking.KEPT) == (400, 10_000, 20)
            and (steps.SEARCH_S, steps.MOST_S) == (3 * 3600, 4 * 3600)
        ),
    ),
    (
        "docs/studies/README.md",
        "with the usual rules beside them | 2 | | boards | 64 to 10,000; 1,000 on the first day of an account | | time of the workers, all attempts "
        "together | 24 hours a study | | parts of a study that wait | 4 | | stored studies of a player | 50",
        lambda: (
            (study_asking.OPEN, study_asking.LEAST, study_asking.MOST, study_asking.MOST_NEW, study_asking.KEPT)
            == (2, 64, 10_000, 1_000, 50)
            and (parts.MOST_S, parts.AHEAD, settings.TALK_AFTER_HOURS) == (24 * 3600, 4, 24)
        ),
    ),
    (
        "docs/studies/README.md",
        "in parts of 32, so the digest is the same at home",
        lambda: (studying.BOARDS, StudyHandler.allowance.share) == (32, 0.05),
    ),
    (
        "docs/tuning.md",
        "Steps yield to matches, uploads, analyses and all else that somebody waits for; while ladders play, they get a tenth of a worker's time. "
        "Eight steps",
        lambda: (TuningHandler.allowance.share, TuningHandler.is_background, steps.AHEAD) == (0.1, True, 8),
    ),
    (
        "docs/git.md",
        "At most 32 MiB compressed, within 60 s",
        lambda: (fetching.MOST_BYTES, fetching.WALL_S, fetches.FORGOTTEN) == (32 * MIB, 60, 30 * DAY),
    ),
    ("docs/git.md", "After an hour without such a worker a fetch fails", lambda: fetches.PATIENCE == 60 * MINUTE),
    ("docs/research.md", "`manage.py publish_data` after ten minutes", lambda: open_data.GIVEN_UP == 10 * MINUTE),
    (
        "docs/builds.md",
        "128 processes and threads, 1 GiB of memory, 240 s of processor time, 300 s",
        lambda: (
            BuildLimits()
            == BuildLimits(memory_mb=1024, scratch_mb=512, processes=128, cpu_s=240, wall_s=300, result_mb=10)
        ),
    ),
    (
        "docs/bot-package.md",
        "2,000,000,000 are one second of any limit",
        lambda: metering.RATE == 2_000_000_000,
    ),
]


def text_of(document: str) -> str:
    return re.sub(r"\s+", " ", (TOP / document).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("document", "sentence", "holds"), CLAIMS, ids=[f"{place} {text[:40]}" for place, text, _ in CLAIMS]
)
def test_a_sentence_with_a_number_is_so(document: str, sentence: str, holds: Callable[[], bool]) -> None:
    assert sentence in text_of(document), "the sentence has changed: change this line, too"
    assert holds()


def test_the_table_of_refusals_has_every_kind_of_the_api() -> None:
    table = text_of("docs/api.md").partition("| status | kind | when |")[2].partition("JSON is read strictly")[0]
    assert set(re.findall(r"`([a-z-]+)`", table)) >= set(problems.KINDS)


# Pages that show what the API does not have. docs/api.md names them in its first lines; a new page goes here or into the API.
ONLY_PAGES = {
    "puzzles-file": "/puzzles.jsonl",
    "mistakes": "your mistakes",
    "learn": "lessons",
    "digest": "digests",
    "player-news": "news",
    "tv": "TV and shows",
    "search": "search over everything",
    "version-source": "files of versions",
    "privacy": "texts",
}


def test_what_only_pages_show_is_said_where_the_api_begins() -> None:
    first = text_of("docs/api.md").partition("## A tour")[0]
    pages = get_resolver().reverse_dict
    for page, words in ONLY_PAGES.items():
        assert page in pages, page
        assert words in first, words
    paths = " ".join(operation["path"] for operation in operations())
    assert not re.search(r"mistake|lesson|digest|news|/tv|search|source", paths), (
        "it is in the API: take it off the list"
    )


def test_the_first_lines_of_the_api_claim_no_more() -> None:
    for document in ("docs/api.md", "docs/README.md", "league/templates/pages/research.html"):
        assert not re.search(r"(?i)all of the site|everything the site shows|all of it as JSON", text_of(document)), (
            document
        )


def test_pages_promise_no_clockless_sandbox_and_no_information_states() -> None:
    """Unsealed bots may read a clock (docs/bot-package.md); the adapter for OpenSpiel has observations only."""
    how, research = (text_of(f"league/templates/pages/{name}.html") for name in ("how", "research"))
    assert "network or clock" not in how
    assert "information states" not in research


COMMAND = re.compile(
    r"(?:(?P<league>manage\.py|tute-manage)|(?:^ {4,}|`|\$ |\.venv/bin/)tute) +(?P<command>[a-z_]+(?:-[a-z]+)*)"
    r"(?: +(?P<inner>find|new|check|channels|tiers)\b)?(?P<rest>[^`\n#|]*)",
    flags=re.MULTILINE,
)
PROCESSES = {"web", "worker", "scheduler"}  # Of `tute` they are names of processes
OF_DJANGO = {
    "migrate",
    "collectstatic",
    "check",
    "help",
    "createsuperuser",
    "changepassword",
    "makemigrations",
    "shell",
}


def named_commands(program: str) -> list[tuple[str, str, str, list[str]]]:
    """Return document, command, its own command or "", and options of each line of the documents that names one of a program."""
    lines = []
    for document in [TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").rglob("*.md")]:
        for match in COMMAND.finditer(document.read_text(encoding="utf-8").replace("\\\n", " ")):
            if match["command"] in PROCESSES and not match["league"]:
                continue
            if bool(match["league"]) == (program == "manage.py"):
                options = re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", match["rest"])
                lines.append((str(document.relative_to(TOP)), match["command"], match["inner"] or "", options))
    return lines


def test_every_command_of_the_league_that_a_document_names_exists_with_its_options() -> None:
    present = get_commands()
    missing = []
    lines = named_commands("manage.py")
    for document, command, _, options in lines:
        if command in OF_DJANGO:
            continue
        if command not in present:
            missing.append((document, command))
            continue
        parser = load_command_class(present[command], command).create_parser("manage.py", command)
        missing += [(document, command, option) for option in options if option not in parser._option_string_actions]
    assert missing == []
    assert len(lines) > 40


def test_every_command_of_the_toolbox_that_a_document_names_exists_with_its_options() -> None:
    missing = []
    lines = named_commands("tute")
    for document, command, inner, options in lines:
        parser = cli.parser()
        for word in (command, inner):
            choices = next((action.choices for action in parser._actions if isinstance(action.choices, dict)), {})
            if word and word in choices:
                parser = choices[word]
            elif word and (word == command or choices):
                missing.append((document, command, inner))
        missing += [(document, command, option) for option in options if option not in parser._option_string_actions]
    assert missing == []
    assert len(lines) > 40


def words_of_code() -> list[tuple[str, str]]:
    """Return document and word of each `word` in the documents."""
    return [
        (str(document.relative_to(TOP)), word)
        for document in [TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").rglob("*.md")]
        for word in re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))
    ]


def test_every_test_that_a_document_names_exists() -> None:
    present = {
        name
        for path in (TOP / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    words = [(document, word) for document, word in words_of_code() if re.fullmatch(r"test_\w+", word)]
    modules = {path.stem for path in (TOP / "tests").rglob("test_*.py")}
    assert [pair for pair in words if pair[1] not in present | modules] == []
    assert len(words) > 60


MADE = re.compile(
    r"\b[A-Z]{3,}\b|pobre|docker/(secrets/|league\.env)"
)  # Placeholders, an example, and what docker/prepare writes


def test_every_file_and_folder_that_a_document_names_exists() -> None:
    start = re.compile(r"(tests|league|engine|bots|benchmarks|docker|examples|docs)/[\w./-]+")
    words = [(document, word) for document, word in words_of_code() if start.fullmatch(word) and not MADE.search(word)]
    places = (TOP, TOP / "league" / "domain")  # docs/transactions.md names modules of the domain
    assert [
        (document, word)
        for document, word in words
        if not any((place / name).exists() for place in places for name in (word, f"{word}.py"))
    ] == []
    assert len(words) > 100


NAME = re.compile(r"[A-Z][A-Z_]{5,}|[A-Z][a-z]+[A-Z]\w+|[a-z]+_[a-z_0-9]+|[a-z_]+\.[a-z_]+")
ELSEWHERE = {
    "pthread_join",
    "meta.restored",
    "pack_replays",
}  # A call of the C library, a key of a key, a command of the release before
FOLDERS = ("league", "engine", "tests", "docker", "bots", "benchmarks", "docs", "examples")


def test_every_setting_constant_class_and_event_that_a_document_names_exists() -> None:
    suffixes = {".py", ".sh", ".yml", ".toml", ".js", ".mjs", ".html", ".json", ".c", ".rs", ".h", ""}
    code = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for folder in FOLDERS
        for path in (TOP / folder).rglob("*")
        if path.suffix in suffixes and path.is_file()
    ) + (TOP / "Makefile").read_text(encoding="utf-8")
    files = {path.name for folder in FOLDERS for path in (TOP / folder).rglob("*.*")}
    words = [(document, word) for document, word in words_of_code() if NAME.fullmatch(word)]
    assert [pair for pair in words if pair[1] not in code and pair[1] not in files | ELSEWHERE] == []
    assert len(words) > 400


def test_every_target_of_make_that_a_document_names_exists() -> None:
    targets = re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    documents = [TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").rglob("*.md")]
    words = [
        (document.name, word)
        for document in documents
        for word in re.findall(r"(?:`|^ {4,}|^)make ([a-z-]+)", document.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert [pair for pair in words if pair[1] not in targets] == []
    assert len(words) > 40


def test_every_address_of_the_site_that_a_document_names_exists() -> None:
    missing = []
    elsewhere = r"/(dev|proc|sys|var|app|api)/"  # Folders of a machine; the API has a page and a test of its own
    words = [
        (document, word)
        for document, word in words_of_code()
        if re.match(r"/[a-z]+[/.]", word) and not re.match(elsewhere, word)
    ]
    for document, word in words:
        path = re.sub(r"<[\w:]+>|\{\w+\}|\b[A-Z]{1,6}\b|(?<=/v)N", "1", re.split(r"[?#\s]", word)[0])
        try:
            resolve(path)
        except Resolver404:
            missing.append((document, word))
    assert missing == []
    assert len(words) > 40
