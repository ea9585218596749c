"""Versions of what the league shows: numbers that grow in the very transaction which changes what stands for them.

The database does it by triggers, so nobody who writes a row can forget it. A change adds a row of its own (`league.models.Change`) and
takes no lock: two who change the same thing never wait for each other. The version of a key is the sum of its rows; who commits later makes it
larger, whatever the order of their statements. The scheduler folds the rows of a key into one, which leaves the sum as it is.

A version that was read before what it stands for is never too new: if something changes in between, the next read of the version tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from zlib import crc32

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from league.service import direct

Versions: TypeAlias = dict[str, int]
FOLD_ABOVE = 2000  # rows
FEW = 8  # keys


@dataclass(frozen=True)
class Marks:
    """What a change of a row of `table` changes: SQL of keys, in which `r` is the row; null: nothing.

    `told` are the columns that count where a row is updated, all where none is named; those keys of `also` are added where one of
    `settled` changes. `on`: what happens to the row.
    """

    table: str
    keys: tuple[str, ...]
    told: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    on: tuple[str, ...] = ("insert", "update", "delete")


def renamed(table: str, *columns: str) -> Marks:
    """What other rows are shown with: it is written once, and if it ever changes, every line that names it is another one."""
    return Marks(table, (f"'{NAMES}'",), told=tuple(f"r.{column}" for column in columns), on=("update",))


BOTS, AUDITS, POOLS, MATCHES, JUDGEMENTS = "bots", "audits", "pools", "matches", "judgements"
PLAYED = "played"
RESULTS = "results"  # of rated matches, whoever played them
NAMES = "names"
TOURNAMENTS, EVENTS = "tournaments", "events"
RELEASE = "release"  # what nothing but another release changes: no row stands for it
OF_TOURNAMENT = "'tournament:' || r.tournament_id"
OF_CIRCUIT = "'circuit:' || r.circuit_id"
# That a worker has leased a match is no news: it is begun at once, or waits as before.
SHOWN = "CASE r.status WHEN 'leased' THEN 'queued' ELSE r.status END"
# Whether a match says something of those who played it
IS_RESULT = "r.rated AND r.status = 'finished'"
ALL = (
    Marks("league_rating", ("'pools'", "'ratings:' || r.pool_id")),
    Marks("league_ratingpoint", ("'pool:' || r.pool_id",)),
    Marks("league_tableofday", ("'pools'", "'ratings:' || r.pool_id")),
    Marks(
        "league_poolsums",
        ("'pools'", "'pool:' || r.pool_id"),
        told=("r.stamp", "r.fitted", "r.fitted_until", "r.ranked", "r.ranked_until"),
    ),
    Marks("league_pool", ("'pools'", "'pool:' || r.id")),
    Marks("league_player", ("'bots'",)),
    Marks("league_bot", ("'bots'",)),
    Marks("league_botversion", ("'bots'",)),
    Marks("league_succession", ("'bots'",)),
    Marks("league_judgedsum", ("'bots'",)),
    Marks("league_playedsum", ("'played'",)),
    Marks("league_audit", ("'audits'",)),
    Marks("league_judgement", ("'judgements'",), told=("r.status",)),
    # Shown beside them, on the same pages and to the same people
    Marks("league_consultation", ("'judgements'",), told=("r.status",)),
    # Its matches become visible with it
    Marks("league_tournament", ("'tournaments'", "'matches'", "'tournament:' || r.id")),
    Marks("league_entry", ("'tournaments'", OF_TOURNAMENT)),
    Marks("league_round", (OF_TOURNAMENT,), on=("insert", "delete")),
    Marks(
        "league_entryrequest",
        (OF_TOURNAMENT, "CASE WHEN r.tournament_id IS NULL THEN 'events' END"),  # of an event or a circuit
    ),
    Marks("league_event", ("'events'",)),
    Marks("league_circuit", ("'events'",)),
    Marks("league_circuit_bots", ("'events'", OF_CIRCUIT)),
    Marks("league_season", ("'events'", OF_CIRCUIT)),
    Marks(
        "league_match",
        ("'matches'", OF_TOURNAMENT),
        told=(SHOWN, "r.rated", "r.embargo", "r.reason"),
        settled=("CASE WHEN r.status IN ('finished', 'void') THEN r.status END", "r.rated", "r.embargo", "r.counted"),
        also=("'pool:' || r.pool_id",),
    ),
    Marks("league_match", ("'results'",), told=(IS_RESULT,), on=("update",)),
    Marks("league_match", (f"CASE WHEN {IS_RESULT} THEN 'results' END",), on=("insert", "delete")),
    renamed("league_player", "name"),
    renamed("league_bot", "slug", "owner_id", "is_house"),
    renamed("league_botversion", "bot_id", "number", "sealable"),
    renamed("league_pool", "game", "players", "options", "team", "revision"),
    renamed("league_tournament", "slug"),
    renamed("league_round", "number"),
)


def of_ratings(pool: int) -> str:
    """The key of the ratings of a pool."""
    return f"ratings:{pool}"


def of_pool(pool: int) -> str:
    """The key of what was played in a pool, and of its history."""
    return f"pool:{pool}"


def of_tournament(tournament: int) -> str:
    """The key of a tournament: its entries, its matches."""
    return f"tournament:{tournament}"


def of_circuit(circuit: int) -> str:
    """The key of who takes part in a circuit, and of its seasons."""
    return f"circuit:{circuit}"


def read(keys: Sequence[str]) -> Versions:
    """The versions of these keys. One query."""
    asked = list(keys)
    if len(asked) > FEW:  # few statements for all the numbers that there may be: each is planned by itself
        asked += asked[-1:] * ((1 << (len(asked) - 1).bit_length()) - len(asked))
    holes = ", ".join(["%s"] * len(asked))
    found = direct.ask(
        f"SELECT key, sum(number) FROM league_change WHERE key IN ({holes}) GROUP BY key",  # noqa: S608
        asked,
    )
    there = {key: int(number) for key, number in found}
    return {key: there.get(key, 0) for key in keys}


def fold() -> int:
    """Make one row of all rows of a key, where there are many; how many there were."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM league_change LIMIT {FOLD_ABOVE + 1}) AS few")  # noqa: S608
        [there] = cursor.fetchone()
        if there <= FOLD_ABOVE:
            return 0
        if connection.vendor == "postgresql":  # what is added meanwhile is neither taken away nor counted
            cursor.execute(
                "WITH gone AS (DELETE FROM league_change RETURNING key, number)"
                " INSERT INTO league_change (key, number) SELECT key, sum(number) FROM gone GROUP BY key"
            )
            return int(there)
        cursor.execute("SELECT key, sum(number), max(id) FROM league_change GROUP BY key")
        rows = cursor.fetchall()
        cursor.execute("DELETE FROM league_change WHERE id <= %s", [max(last for _, _, last in rows)])
        cursor.executemany(
            "INSERT INTO league_change (key, number) VALUES (%s, %s)", [(key, total) for key, total, _ in rows]
        )
    return int(there)


def install(on: BaseDatabaseWrapper) -> None:
    """Make the triggers that are missing. After every migration: where SQLite makes a table anew, its triggers are gone."""
    tables = set(on.introspection.table_names())
    if "league_change" not in tables:
        return
    make = _on_postgres if on.vendor == "postgresql" else _on_sqlite
    with on.cursor() as cursor:
        for table in dict.fromkeys(one.table for one in ALL):
            if table in tables:
                make(cursor, table, [(one, event) for one in ALL if one.table == table for event in one.on])


def _keys(keys: Sequence[str], row: str) -> str:
    """Rows of keys, of one row."""
    return " UNION ALL ".join(f"SELECT {key.replace('r.', f'{row}.')} AS key" for key in keys)


def _differ(values: Sequence[str], distinct: str) -> str:
    return " OR ".join(
        f"({value.replace('r.', 'OLD.')}) {distinct} ({value.replace('r.', 'NEW.')})" for value in values
    )


def _also(one: Marks, distinct: str) -> str:
    """The keys that are added where something has settled, of a row that was updated."""
    if not one.also:
        return ""
    return f" UNION ALL SELECT key FROM ({_keys(one.also, 'NEW')}) AS more WHERE {_differ(one.settled, distinct)}"  # noqa: S608


def _name(one: Marks, event: str, definition: str) -> str:
    """Of a trigger, by what it does: where that changes with a release, it is another one."""
    return f"{one.table}_{event}_{crc32(definition.encode()):08x}_mark"


def _on_postgres(cursor: Any, table: str, all_of: Sequence[tuple[Marks, str]]) -> None:
    """A trigger for each statement that adds, changes or removes rows; for each row where only some columns count."""
    cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE '%%\\_mark'", [table])
    there = {name for (name,) in cursor.fetchall()}
    wanted = set()
    for one, event in all_of:
        rows = "OLD" if event == "delete" else "NEW"
        if event == "update" and one.told:
            source = f"({_keys(one.keys, 'NEW')}{_also(one, 'IS DISTINCT FROM')}) AS k"
            on = f"AFTER UPDATE ON {one.table} FOR EACH ROW WHEN ({_differ((*one.told, *one.settled), 'IS DISTINCT FROM')})"
        else:
            source = f"(SELECT DISTINCT k.key FROM changed r, LATERAL ({_keys((*one.keys, *one.also), 'r')}) AS k) AS k"  # noqa: S608
            on = f"AFTER {event} ON {one.table} REFERENCING {rows} TABLE AS changed FOR EACH STATEMENT"
        name = _name(one, event, source + on)
        wanted.add(name)
        if name in there:
            continue
        cursor.execute(
            f"""CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = public, pg_temp AS $$ BEGIN
            INSERT INTO league_change (key, number) SELECT k.key, 1 FROM {source} WHERE k.key IS NOT NULL;
            RETURN NULL; END $$"""  # noqa: S608
        )
        cursor.execute(f"CREATE TRIGGER {name} {on} EXECUTE FUNCTION {name}()")
    for name in sorted(there - wanted):
        cursor.execute(f"DROP TRIGGER {name} ON {table}")
        cursor.execute(f"DROP FUNCTION {name}()")


def _on_sqlite(cursor: Any, table: str, all_of: Sequence[tuple[Marks, str]]) -> None:
    """A trigger for each row."""
    cursor.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s AND name LIKE '%%_mark'", [table]
    )
    there = {name for (name,) in cursor.fetchall()}
    wanted = set()
    for one, event in all_of:
        row = "OLD" if event == "delete" else "NEW"
        when, keys = "", _keys((*one.keys, *one.also), row)
        if event == "update" and one.told:
            when = f"WHEN {_differ((*one.told, *one.settled), 'IS NOT')}"
            keys = f"{_keys(one.keys, row)}{_also(one, 'IS NOT')}"
        does = (
            f"AFTER {event} ON {one.table} FOR EACH ROW {when} BEGIN"  # noqa: S608
            f" INSERT INTO league_change (key, number) SELECT key, 1 FROM ({keys}) WHERE key IS NOT NULL; END"
        )
        name = _name(one, event, does)
        wanted.add(name)
        if name not in there:
            cursor.execute(f"CREATE TRIGGER {name} {does}")
    for name in sorted(there - wanted):
        cursor.execute(f"DROP TRIGGER {name}")
