"""Change counters: numbers that grow in the transaction that changes what they count.

The database counts by triggers, so no writer can forget it. A change adds a row (`league.models.Change`) and takes no lock: two writers never wait
for each other. The count of a key is the sum of its rows, so each commit makes it larger, in whatever order the statements ran. The scheduler folds
the rows of a key into one, which leaves the sum as it is.

A view first reads the counters of the data that it shows (`keep_until`), and then the data. If something changes in between, the counter has grown
by the next request. The response cache (`league.response_cache`) repeats the answer while the counters stand still.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from zlib import crc32

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest

from league.service import direct

Counts: TypeAlias = dict[str, int]
FOLD_ABOVE = 2000  # Fold if there are more rows than this.
FEW = 8  # Up to this number of keys, a statement is not padded.
TICKET = "league.ticket"  # Key in the environment of a request whose response may be cached.


@dataclass(frozen=True)
class CountRule:
    """The keys that a change of a row of `table` counts for: SQL, in which `r` is the row; null for none.

    `columns`: an update counts only if it changes one of these; by default any. `also`: keys that count as well if one of the columns `settled`
    changes. `on`: the events.
    """

    table: str
    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    on: tuple[str, ...] = ("insert", "update", "delete")

    @property
    def reads(self) -> set[str]:
        """Return the columns that the rule reads."""
        return set(re.findall(r"\br\.(\w+)", " ".join((*self.keys, *self.columns, *self.settled, *self.also))))


def name_rule(table: str, *columns: str) -> CountRule:
    """Return the rule for columns whose values other rows show as names.

    They hardly ever change; if they do, every cached response with names is outdated.
    """
    return CountRule(table, (f"'{NAMES}'",), columns=tuple(f"r.{column}" for column in columns), on=("update",))


BOTS, AUDITS, POOLS, MATCHES, JUDGEMENTS = "bots", "audits", "pools", "matches", "judgements"
PLAYED, CHOICES, FOLLOWS, TUNINGS, STUDIES = "played", "choices", "follows", "tunings", "studies"
RESULTS = "results"  # Counts all rated results.
NAMES = "names"
TOURNAMENTS, EVENTS = "tournaments", "events"
TALK = "talk"  # Counts comments.
RELEASE = "release"  # A key that counts no rows, for responses that change only with a new release.
CLOCK = "clock"  # A key that counts no rows: it grows every `CLOCK_S`, for responses that depend on the time of day.
CLOCK_S = 10
OF_TOURNAMENT = "'tournament:' || r.tournament_id"
# Leasing changes nothing that a page shows: the match starts at once, or waits as before.
SHOWN = "CASE r.status WHEN 'leased' THEN 'queued' ELSE r.status END"
IS_RESULT = "r.rated AND r.status = 'finished'"
RULES = (
    CountRule("league_rating", ("'pools'", "'ratings:' || r.pool_id")),
    CountRule("league_ratingpoint", ("'pool:' || r.pool_id",)),
    CountRule("league_tableofday", ("'pools'", "'ratings:' || r.pool_id")),
    CountRule(
        "league_poolsums",
        ("'pools'", "'pool:' || r.pool_id"),
        columns=("r.stamp", "r.fitted", "r.fitted_until", "r.ranked", "r.ranked_until"),
    ),
    CountRule("league_pool", ("'pools'", "'pool:' || r.id")),
    CountRule("league_player", ("'bots'",)),
    CountRule("league_bot", ("'bots'",)),
    CountRule("league_team", ("'bots'",)),
    CountRule("league_teammember", ("'bots'",)),
    CountRule("league_botversion", ("'bots'",)),
    CountRule("league_build", ("'bots'",)),
    CountRule("league_fetch", ("'bots'",)),
    CountRule("league_tuning", ("'tunings'",)),
    CountRule("league_study", ("'studies'",)),
    CountRule("league_succession", ("'bots'",)),
    CountRule("league_boss", ("'bots'",)),
    CountRule("league_bosstest", ("'bots'",)),
    CountRule("league_rung", ("'bots'",), columns=("r.league",), on=("update",)),
    CountRule("league_judgedsum", ("'bots'",)),
    CountRule("league_playedsum", ("'played'",)),
    CountRule("league_matchchoices", ("'choices'",)),
    CountRule("league_follow", ("'follows'",), on=("insert", "delete")),
    CountRule("league_audit", ("'audits'",)),
    CountRule("league_judgement", ("'judgements'",), columns=("r.status",)),
    # Consultations are shown on the pages of analyses, to the same readers.
    CountRule("league_consultation", ("'judgements'",), columns=("r.status",)),
    # When a tournament becomes visible, its matches do, too.
    CountRule("league_tournament", ("'tournaments'", "'matches'", "'tournament:' || r.id")),
    CountRule("league_entry", ("'tournaments'", OF_TOURNAMENT)),
    CountRule("league_round", (OF_TOURNAMENT,), on=("insert", "delete")),
    # A request that names no tournament is for an event or a circuit.
    CountRule("league_entryrequest", (OF_TOURNAMENT, "CASE WHEN r.tournament_id IS NULL THEN 'events' END")),
    CountRule("league_event", ("'events'",)),
    CountRule("league_circuit", ("'events'",)),
    CountRule("league_circuit_bots", ("'events'",)),
    CountRule("league_season", ("'events'",)),
    CountRule("league_arena", ("'events'", "'arena:' || r.id")),
    CountRule("league_arenaentry", ("'arena:' || r.arena_id",)),
    CountRule(
        "league_match",
        ("'matches'", OF_TOURNAMENT),
        columns=(SHOWN, "r.rated", "r.embargo", "r.reason", "r.in_class"),
        settled=("CASE WHEN r.status IN ('finished', 'void') THEN r.status END", "r.rated", "r.embargo", "r.counted"),
        also=("'pool:' || r.pool_id",),
    ),
    CountRule("league_comment", ("'talk'",)),
    CountRule("league_match", ("'results'",), columns=(IS_RESULT,), on=("update",)),
    CountRule("league_match", (f"CASE WHEN {IS_RESULT} THEN 'results' END",), on=("insert", "delete")),
    name_rule("league_player", "name"),
    name_rule("league_bot", "slug", "owner_id", "team_id", "is_house"),
    name_rule("league_team", "name"),
    name_rule("league_botversion", "bot_id", "number", "sealable"),
    name_rule("league_pool", "game", "players", "options", "team", "revision"),
    name_rule("league_tournament", "slug"),
    name_rule("league_round", "number"),
)


def of_ratings(pool: int) -> str:
    """Return the key of the ratings of a pool."""
    return f"ratings:{pool}"


def of_pool(pool: int) -> str:
    """Return the key of the results of a pool, and of its history."""
    return f"pool:{pool}"


def of_arena(arena: int) -> str:
    """Return the key of an arena with its standing and who waits."""
    return f"arena:{arena}"


def of_tournament(tournament: int) -> str:
    """Return the key of a tournament with its entries and matches."""
    return f"tournament:{tournament}"


def position() -> tuple[object, ...]:
    """Return numbers that are others after any change that counts. One query, of an index."""
    (position,) = direct.ask("SELECT count(*), coalesce(max(id), 0) FROM league_change", [])
    return position


def read(keys: Sequence[str]) -> Counts:
    """Return the counts of these keys. One query."""
    padded = list(keys)
    # Pad the keys, so that few different statements exist: the database plans each one separately.
    if len(padded) > FEW:
        padded += padded[-1:] * ((1 << (len(padded) - 1).bit_length()) - len(padded))
    holes = ", ".join(["%s"] * len(padded))
    rows = direct.ask(
        f"SELECT key, sum(number) FROM league_change WHERE key IN ({holes}) GROUP BY key",  # noqa: S608
        padded,
    )
    counts = {key: int(number) for key, number in rows} | {CLOCK: int(time.time() // CLOCK_S)}
    return {key: counts.get(key, 0) for key in keys}


@dataclass
class Ticket:
    """The counters that a view has named: the response cache keeps its response while they stand still. Without counters it keeps nothing."""

    counts: Counts = field(default_factory=dict)
    if_none_match: str = ""  # The header of the client, which the cache compares with the digest of the whole response.


def keep_until(request: HttpRequest, *keys: str) -> None:
    """Cache the response for anonymous readers until one of these counters grows. Call it before reading any data for the response.

    At most one query; none if the response cannot be cached.
    """
    ticket: Ticket | None = request.META.get(TICKET)
    missing = [key for key in keys if ticket is not None and key not in ticket.counts]
    if ticket is not None and missing:
        ticket.counts.update(read(missing))
        request.META.pop("HTTP_IF_NONE_MATCH", None)


def kept_until(*keys: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a view whose responses always depend on the same counters (`keep_until`)."""

    def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            keep_until(request, *keys)
            return view(request, *args, **kwargs)

        answer.__name__, answer.__doc__, answer.__module__ = view.__name__, view.__doc__, view.__module__
        return answer

    return decorate


def fold() -> int:
    """Fold the rows of a key into one if there are many rows. Return the number of rows that there were."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM league_change LIMIT {FOLD_ABOVE + 1}) AS few")  # noqa: S608
        [count] = cursor.fetchone()
        if count <= FOLD_ABOVE:
            return 0
        if connection.vendor == "postgresql":  # Rows added in the meantime are neither deleted nor summed.
            cursor.execute(
                "WITH gone AS (DELETE FROM league_change RETURNING key, number)"
                " INSERT INTO league_change (key, number) SELECT key, sum(number) FROM gone GROUP BY key"
            )
            return int(count)
        cursor.execute("SELECT key, sum(number), max(id) FROM league_change GROUP BY key")
        rows = cursor.fetchall()
        cursor.execute("DELETE FROM league_change WHERE id <= %s", [max(last for _, _, last in rows)])
        cursor.executemany(
            "INSERT INTO league_change (key, number) VALUES (%s, %s)", [(key, total) for key, total, _ in rows]
        )
    return int(count)


def install(on: BaseDatabaseWrapper) -> None:
    """Create the triggers that are missing. Run after every migration: SQLite drops the triggers of a table that it rebuilds."""
    tables = set(on.introspection.table_names())
    if "league_change" not in tables:
        return
    create = _on_postgres if on.vendor == "postgresql" else _on_sqlite
    with on.cursor() as cursor:
        for table in dict.fromkeys(rule.table for rule in RULES if rule.table in tables):
            cursor.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 -- Django's own description of a table takes far longer.
            columns = {column[0] for column in cursor.description}
            # On the way back to an earlier release some columns are gone, and so is what counted their changes.
            rules = [rule for rule in RULES if rule.table == table and rule.reads <= columns]
            create(cursor, table, [(rule, event) for rule in rules for event in rule.on])


def remove(on: BaseDatabaseWrapper) -> None:
    """Drop all triggers on SQLite; PostgreSQL drops one with a column that it reads."""
    if on.vendor != "sqlite":
        return
    with on.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%%_mark'")
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP TRIGGER {name}")


def _select_keys(keys: Sequence[str], row: str) -> str:
    """Return SQL that selects the keys of one row."""
    return " UNION ALL ".join(f"SELECT {key.replace('r.', f'{row}.')} AS key" for key in keys)


def _differ(values: Sequence[str], distinct: str) -> str:
    return " OR ".join(
        f"({value.replace('r.', 'OLD.')}) {distinct} ({value.replace('r.', 'NEW.')})" for value in values
    )


def _select_also(rule: CountRule, distinct: str) -> str:
    """Return SQL that adds the keys of `also` for an updated row if one of the columns `settled` has changed."""
    if not rule.also:
        return ""
    keys = _select_keys(rule.also, "NEW")
    return f" UNION ALL SELECT key FROM ({keys}) AS more WHERE {_differ(rule.settled, distinct)}"  # noqa: S608


def _name(rule: CountRule, event: str, definition: str) -> str:
    """Return the name of a trigger. It has a digest of the definition, so a trigger that a release changes gets a new name."""
    return f"{rule.table}_{event}_{crc32(definition.encode()):08x}_mark"


def _on_postgres(cursor: Any, table: str, rules: Sequence[tuple[CountRule, str]]) -> None:
    """Create a trigger for each statement that changes rows, or for each row if only some columns count."""
    cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE '%%\\_mark'", [table])
    present = {name for (name,) in cursor.fetchall()}
    names = set()
    for rule, event in rules:
        rows = "OLD" if event == "delete" else "NEW"
        if event == "update" and rule.columns:
            source = f"({_select_keys(rule.keys, 'NEW')}{_select_also(rule, 'IS DISTINCT FROM')}) AS k"
            changed = _differ((*rule.columns, *rule.settled), "IS DISTINCT FROM")
            on = f"AFTER UPDATE ON {rule.table} FOR EACH ROW WHEN ({changed})"
        else:
            keys = _select_keys((*rule.keys, *rule.also), "r")
            source = f"(SELECT DISTINCT k.key FROM changed r, LATERAL ({keys}) AS k) AS k"  # noqa: S608
            on = f"AFTER {event} ON {rule.table} REFERENCING {rows} TABLE AS changed FOR EACH STATEMENT"
        name = _name(rule, event, source + on)
        names.add(name)
        if name in present:
            continue
        cursor.execute(
            f"""CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = public, pg_temp AS $$ BEGIN
            INSERT INTO league_change (key, number) SELECT k.key, 1 FROM {source} WHERE k.key IS NOT NULL;
            RETURN NULL; END $$"""  # noqa: S608
        )
        cursor.execute(f"CREATE TRIGGER {name} {on} EXECUTE FUNCTION {name}()")
    for name in sorted(present - names):
        cursor.execute(f"DROP TRIGGER {name} ON {table}")
        cursor.execute(f"DROP FUNCTION {name}()")


def _on_sqlite(cursor: Any, table: str, rules: Sequence[tuple[CountRule, str]]) -> None:
    """Create a trigger for each row."""
    cursor.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s AND name LIKE '%%_mark'", [table]
    )
    present = {name for (name,) in cursor.fetchall()}
    names = set()
    for rule, event in rules:
        row = "OLD" if event == "delete" else "NEW"
        when, keys = "", _select_keys((*rule.keys, *rule.also), row)
        if event == "update" and rule.columns:
            when = f"WHEN {_differ((*rule.columns, *rule.settled), 'IS NOT')}"
            keys = f"{_select_keys(rule.keys, row)}{_select_also(rule, 'IS NOT')}"
        body = (
            f"AFTER {event} ON {rule.table} FOR EACH ROW {when} BEGIN"  # noqa: S608
            f" INSERT INTO league_change (key, number) SELECT key, 1 FROM ({keys}) WHERE key IS NOT NULL; END"
        )
        name = _name(rule, event, body)
        names.add(name)
        if name not in present:
            cursor.execute(f"CREATE TRIGGER {name} {body}")
    for name in sorted(present - names):
        cursor.execute(f"DROP TRIGGER {name}")
