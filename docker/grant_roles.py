"""Grant the database roles of the web and of the workers exactly the rights they need. Run it after each migration; repeating it is harmless.

Neither role owns or creates anything. `tute_web`, for web and scheduler, reads and writes rows, but can only add to the journal. `tute_runner`, for
the processes that run uploaded code, has the rights in RUNNER and RULES below: an attacker who broke out of the sandbox would find no account,
could change no player, package, rating, or final result, and could read the secret of no match that the worker has not leased.

With --only-roles it creates the roles and grants nothing, as restoring a backup requires.

Reads DATABASE_URL (the owner of the tables), WEB_PASSWORD and RUNNER_PASSWORD, each directly or from a file named by NAME_FILE.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import psycopg
from psycopg import sql

from league.service.env import envstr

WEB = "tute_web"
ROLE = "tute_runner"
ONLY_ROLES = "--only-roles"
TRIES = 5  # Attempts when another connection locks a table, or both wait for each other.


@dataclass(frozen=True)
class Rights:
    """Rights on a table: read all columns but the withheld ones (or `only` these), add rows, change these columns, remove rows."""

    withheld: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    add: bool = False
    change: tuple[str, ...] = ()
    remove: bool = False


ALL = ("*",)
LEASE = ("status", "token", "worker", "lease_until", "ends_by", "attempts", "slow", "gave_way", "not_before", "avoid")
JOB = ("state", "token", "worker", "lease_until", "ends_by", "attempts", "not_before", "reason", "progress")
COURSE = ("reason", "progress", "decided", "host", "started", "finished")
RESULT = ("points", "wins", "draws", "losses", "fault", "fault_detail", "fault_at", "faults", "stderr")
USAGE = ("cpu_s", "wall_s", "max_cpu_s", "decisions", "sealed", "style")
AUDIT = ("verdict", "decisions", "log_odd", "run_odd", "all_differ", "chance", "first", "fault", "fault_detail")
TABLE = (
    "turn",
    "since",
    "board",
    "legal",
    "hand",
    "seen",
    "scores",
    "fault",
    "records",
    "advice",
    "spectated",
    "news",
    "question",
    "due",
)
PERSON = ("legal", "hand", "seen", "advice_asked", "advice", "away", "seated", "left_ms")
ANALYSIS = ("cpu_s", "decisions", "judged", "limited", "body")
REQUEST = ("status", "reason", "finished")
# The leases of the release before, whose workers may go on until they are replaced
BEFORE = ("token", "worker", "lease_until", "attempts")
RUNNER = {
    "django_migrations": Rights(),  # A worker compares the tables with its release.
    "league_audit": Rights(change=(*AUDIT, "finished")),
    "league_board": Rights(add=True),
    "league_bot": Rights(change=("state", "paused_for", "retest_at", "retests")),  # A failing bot is paused.
    "league_botversion": Rights(change=("status", "refused", "fault", "fault_detail")),  # The result of a validation.
    "league_build": Rights(change=("log", "why", "toolchain", "digest", "result", "finished")),
    "league_change": Rights(only=("id",)),  # Whether anything has changed since its last look.
    "league_check": Rights(add=True),
    "league_consultation": Rights(change=(*REQUEST, "compiled", "limited", "answers", "cpu_s", *BEFORE, "progress")),
    "league_fetch": Rights(change=("commit", "why", "result", "finished")),
    "league_foundpuzzle": Rights(add=True),
    "league_job": Rights(change=JOB, remove=True),
    "league_judgement": Rights(change=(*REQUEST, *ANALYSIS, *BEFORE, "progress")),
    "league_leagueevent": Rights(only=("id",), add=True),
    "league_mistake": Rights(only=("id", "player_id", "puzzle"), add=True),
    "league_mistakesearch": Rights(change=("finished", "judged")),
    "league_noticesource": Rights(only=("id",), add=True),  # A new line of the journal is queued for notices.
    "league_logdictionary": Rights(),
    "league_match": Rights(withheld=("secret",), add=True, change=(*LEASE, *COURSE)),
    "league_matchlog": Rights(add=True),
    "league_outlook": Rights(),  # The scheduler's view of the other processes.
    "league_package": Rights(),
    "league_party": Rights(add=True, change=(*RESULT, *USAGE, "broken_off")),
    "league_pool": Rights(),
    "league_puzzlesearch": Rights(change=("done", "made", "finished", *BEFORE[1:])),
    "league_remoteline": Rights(add=True, change=("answer",)),
    "league_sitting": Rights(add=True),
    "league_study": Rights(),
    "league_studypart": Rights(change=("data", "digest", "seconds", "cpu_s", "why", "finished")),
    "league_table": Rights(
        withheld=("secret",), change=("status", "reason", "finished", *TABLE, *BEFORE, "not_before")
    ),
    "league_tableaction": Rights(add=True),
    "league_tableperson": Rights(add=True, change=PERSON),
    "league_tableseat": Rights(),
    "league_tournament": Rights(withheld=("secret",)),
    "league_try": Rights(change=("result", "finished")),
    "league_tuning": Rights(),
    "league_tuningstep": Rights(change=("result", "finished")),
    "league_worker": Rights(add=True, change=ALL, remove=True),  # Its own status.
}
# Row rules of the workers' role: for each table and command, the condition on rows that it reads, changes (before and after) or adds.
# Other roles are bound by grants alone.
LEASED = "status IN ('leased', 'running')"
OPEN = "status IN ('queued', 'leased', 'running')"
# The kinds of journal lines that a worker adds, and its name in them: a host and a process. No player, operator or rule of the league has such a
# name, so it can only report its own acts.
JOURNAL = {
    "match": ("moved", "given_up", "report_refused"),
    "audit": ("moved", "finished"),
    "judgement": ("moved",),
    "consultation": ("moved",),
    "puzzle": ("found",),
    "table": ("moved",),
    "try": ("moved",),
    "version": ("moved", "refused"),
    "bot": ("paused", "resumed", "failed"),
    "worker": ("started", "refused", "resumed", "stopped"),
}
CREATORS = ("lo_creat", "lo_create", "lo_from_bytea", "lo_import")  # The functions that create large objects.
LINES = ", ".join(f"'{what}.{word}'" for what, words in JOURNAL.items() for word in words)
ITSELF = "actor ~ '^[^:]+:[0-9]+$'"
PLAYS = f"EXISTS (SELECT FROM league_match m WHERE m.id = match_id AND m.{LEASED})"
SITS = "EXISTS (SELECT FROM league_table t WHERE t.id = table_id AND t.status"
RULES = (
    ("league_match", "UPDATE", OPEN, f"{OPEN} OR status = 'finished'"),  # Finished matches stay as they are.
    # Further games of a validation.
    ("league_match", "INSERT", "", "kind = 'validation' AND status = 'running' AND tournament_id IS NULL"),
    ("league_party", "UPDATE", PLAYS, PLAYS),
    ("league_party", "INSERT", "", PLAYS.replace("m.status", "m.kind = 'validation' AND m.status")),
    ("league_board", "INSERT", "", PLAYS),
    ("league_matchlog", "INSERT", "", PLAYS),
    ("league_sitting", "INSERT", "",
     f"EXISTS (SELECT FROM league_board b JOIN league_match m ON m.id = b.match_id WHERE b.id = board_id AND m.{LEASED})"),
    # Lines to remote bots; only their authors' programs answer.
    ("league_remoteline", "INSERT", "",
     f"answer IS NULL AND EXISTS (SELECT FROM league_party p JOIN league_match m ON m.id = p.match_id WHERE p.id = party_id AND m.{LEASED})"),
    ("league_remoteline", "UPDATE", "answer IS NULL", "answer = ''"),
    ("league_botversion", "UPDATE", "status = 'validating'", "status IN ('accepted', 'rejected')"),
    ("league_build", "UPDATE", "finished IS NULL", "true"),
    ("league_fetch", "UPDATE", "finished IS NULL", "true"),
    ("league_tuningstep", "UPDATE", "finished IS NULL", "true"),
    ("league_studypart", "UPDATE", "finished IS NULL", "true"),
    ("league_check", "INSERT", "",
     "EXISTS (SELECT FROM league_botversion v WHERE v.id = version_id AND v.status = 'validating')"),
    ("league_bot", "UPDATE", "state = 'active' OR state = 'paused' AND paused_for <> ''",  # Never a bot that its owner paused.
     "state IN ('active', 'paused')"),
    ("league_audit", "UPDATE", "verdict = ''", "true"),
    ("league_job", "DELETE", "state = 'leased'", ""),  # A worker ends its own jobs.
    ("league_judgement", "UPDATE", "status IN ('asked', 'working')", "true"),  # Finished analyses stay as they are.
    ("league_consultation", "UPDATE", "status IN ('asked', 'working')", "true"),
    ("league_puzzlesearch", "UPDATE", "finished IS NULL", "true"),
    ("league_foundpuzzle", "INSERT", "",
     "EXISTS (SELECT FROM league_puzzlesearch s JOIN league_judgement j ON j.id = s.judgement_id"
     " WHERE j.match_id = league_foundpuzzle.match_id AND s.finished IS NULL)"),
    ("league_mistakesearch", "UPDATE", "finished IS NULL", "true"),
    ("league_mistake", "INSERT", "",
     "EXISTS (SELECT FROM league_mistakesearch s WHERE s.id = search_id AND s.player_id = league_mistake.player_id AND s.finished IS NULL)"),
    # Only the texts of running tries.
    ("league_try", "SELECT", PLAYS.replace("= match_id", "= work_id"), ""),
    ("league_try", "UPDATE", "result IS NULL", PLAYS.replace("= match_id", "= work_id")),
    ("league_table", "UPDATE", "status IN ('waiting', 'held')", "status IN ('waiting', 'held', 'resting', 'finished', 'void')"),
    ("league_tableperson", "UPDATE", f"{SITS} IN ('waiting', 'held'))", f"{SITS} IN ('waiting', 'held'))"),
    ("league_tableperson", "INSERT", "", f"{SITS} IN ('waiting', 'held') AND NOT t.shared)"),  # `people.inherit`
    ("league_tableaction", "INSERT", "", "EXISTS (SELECT FROM league_table t WHERE t.id = table_id AND t.status = 'held')"),
    ("league_leagueevent", "INSERT", "", f"kind IN ({LINES}) AND {ITSELF} AND (subject = 'worker:' || actor OR kind NOT LIKE 'worker.%')"),
    # Only new lines of the journal.
    ("league_noticesource", "INSERT", "", "reached = 0 AND line_id > (SELECT max(e.id) FROM league_leagueevent e) - 1000"),
    # House bots, and bots that are being played, built, tuned or audited, or sit at a table.
    ("league_package", "SELECT",
     "EXISTS (SELECT FROM league_botversion v JOIN league_bot b ON b.id = v.bot_id WHERE v.package_id = sha256 AND (b.is_house"  # noqa: S608
     f" OR EXISTS (SELECT FROM league_party p JOIN league_match m ON m.id = p.match_id WHERE p.version_id = v.id AND m.{LEASED})"
     f" OR EXISTS (SELECT FROM league_audit a JOIN league_match m ON m.id = a.work_id WHERE a.version_id = v.id AND m.{LEASED})"
     " OR EXISTS (SELECT FROM league_tuning t JOIN league_tuningstep s ON s.tuning_id = t.id JOIN league_job j ON j.tuning_id = s.id"
     " WHERE v.id IN (t.version_id, t.opponent_id) AND j.state = 'leased')"
     " OR EXISTS (SELECT FROM league_tableseat s JOIN league_table t ON t.id = s.table_id WHERE s.version_id = v.id AND t.status = 'held')))"
     # The source of what is built, for the first time or again.
     " OR EXISTS (SELECT FROM league_build u JOIN league_job j ON j.build_id = u.id JOIN league_botversion v ON v.id = u.version_id"
     " WHERE j.state = 'leased' AND sha256 IN (v.package_id, v.source_id))",
     ""),
)  # fmt: skip


def grant(url: str, *, web: str, runner: str, only_roles: bool = False) -> None:
    """Create missing roles, set their passwords, revoke all their rights and grant the needed ones. All or nothing.

    only_roles: stop after creating them: a backup that names the roles is restored into a database without tables.
    """
    for tries_left in reversed(range(TRIES)):
        try:
            with psycopg.connect(url) as connection:
                connection.execute("SET lock_timeout = '5s'")
                _create_login(connection, WEB, web)
                _create_login(connection, ROLE, runner)
                if only_roles:
                    return
                _revoke_all(connection, WEB)
                _revoke_all(connection, ROLE)
                _grant_web(connection)
                _grant_runner(connection)
                _create_policies(connection)
                for why in _withhold_creation(connection):
                    print(f"warning: {why}", file=sys.stderr)
            return
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if not tries_left:
                raise
            time.sleep(1)


def _say(
    connection: psycopg.Connection, words: str, *names: sql.Composable, **names_by_keyword: sql.Composable
) -> None:
    connection.execute(sql.SQL(words).format(*names, **names_by_keyword))


def _create_login(connection: psycopg.Connection, name: str, password: str) -> None:
    role = sql.Identifier(name)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
        _say(connection, "CREATE ROLE {} LOGIN", role)
    words = "ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}"
    _say(connection, words, role, sql.Literal(password))


def _revoke_all(connection: psycopg.Connection, name: str) -> None:
    role = sql.Identifier(name)
    for what in ("TABLES", "SEQUENCES", "FUNCTIONS"):
        _say(connection, f"REVOKE ALL ON ALL {what} IN SCHEMA public FROM {{}}", role)
    _say(connection, "GRANT USAGE ON SCHEMA public TO {}", role)
    _say(connection, "GRANT EXECUTE ON FUNCTION league_secret_of_lease(bigint, integer) TO {}", role)
    _say(connection, "GRANT EXECUTE ON FUNCTION league_secret_of_table(bigint, integer) TO {}", role)
    _say(connection, "GRANT EXECUTE ON FUNCTION league_secret_of_table_job(bigint, integer) TO {}", role)


def _grant_web(connection: psycopg.Connection) -> None:
    role = sql.Identifier(WEB)
    _say(connection, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}", role)
    _say(connection, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}", role)
    _say(connection, "REVOKE UPDATE, DELETE ON league_leagueevent FROM {}", role)  # The journal is append-only.
    _say(connection, "REVOKE INSERT, UPDATE, DELETE ON django_migrations, league_logdictionary FROM {}", role)


def _grant_runner(connection: psycopg.Connection) -> None:
    role = sql.Identifier(ROLE)
    for name, use in RUNNER.items():
        names = connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped", [name]
        ).fetchall()
        readable = use.only or [column for (column,) in names if column not in use.withheld]
        table = sql.Identifier(name)
        rights = [sql.SQL("SELECT ({})").format(_columns(readable))]
        rights += [sql.SQL("INSERT")] if use.add else []
        changed = [column for (column,) in names] if use.change == ALL else use.change
        rights += [sql.SQL("UPDATE ({})").format(_columns(changed))] if changed else []
        rights += [sql.SQL("DELETE")] if use.remove else []
        _say(connection, "GRANT {} ON {} TO {}", sql.SQL(", ").join(rights), table, role)


def _columns(names: tuple[str, ...] | list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _withhold_creation(connection: psycopg.Connection) -> list[str]:
    """Take from everybody but the owner what PostgreSQL lets every role create: large objects and temporary tables. Return what remains."""
    (database,) = connection.execute("SELECT current_database()").fetchone() or ("",)
    _say(connection, "REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", sql.Identifier(database))
    functions = connection.execute(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (%s)",
        [list(CREATORS)],
    ).fetchall()
    for (function,) in functions:
        connection.execute(f"REVOKE EXECUTE ON FUNCTION pg_catalog.{function} FROM PUBLIC")
    rest = [name for (name,) in functions if _may(connection, "has_function_privilege(%s, %s, 'EXECUTE')", ROLE, name)]
    rest += (
        ["temporary tables"] if _may(connection, "has_database_privilege(%s, %s, 'TEMPORARY')", ROLE, database) else []
    )
    return [f"{ROLE} can still create {name}, which only a superuser of PostgreSQL can withhold" for name in rest]


def _may(connection: psycopg.Connection, privilege: str, *values: str) -> bool:
    (may,) = connection.execute(f"SELECT {privilege}", values).fetchone() or (False,)  # type: ignore[arg-type]  # of this file
    return bool(may)


def _create_policies(connection: psycopg.Connection) -> None:
    """Create the row policies: one opens every row to every role, then those of the workers' role restrict it."""
    for name, policy in connection.execute(
        "SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'public' AND policyname LIKE 'tute_%'"
    ).fetchall():
        _say(connection, "DROP POLICY {} ON {}", sql.Identifier(policy), sql.Identifier(name))
    for name in dict.fromkeys(table for table, *_ in RULES):
        table = sql.Identifier(name)
        _say(connection, "ALTER TABLE {} ENABLE ROW LEVEL SECURITY", table)
        _say(connection, "CREATE POLICY tute_all ON {} USING (true) WITH CHECK (true)", table)
    for name, command, before, after in RULES:
        words = f"CREATE POLICY {{}} ON {{}} AS RESTRICTIVE FOR {command} TO {{}}"
        words += (f" USING ({before})" if before else "") + (f" WITH CHECK ({after})" if after else "")
        policy = sql.Identifier(f"tute_runner_{command.lower()}")
        _say(connection, words, policy, sql.Identifier(name), sql.Identifier(ROLE))


if __name__ == "__main__":
    owner, web, runner = envstr("DATABASE_URL"), envstr("WEB_PASSWORD"), envstr("RUNNER_PASSWORD")
    if not owner or not web or not runner:
        sys.exit(
            "error: set DATABASE_URL, WEB_PASSWORD and RUNNER_PASSWORD, or each as NAME_FILE with the path of a file"
        )
    if ONLY_ROLES in sys.argv[1:]:
        grant(owner, web=web, runner=runner, only_roles=True)
        sys.exit()
    grant(owner, web=web, runner=runner)
    print(f"{WEB} may use all tables, {ROLE} {len(RUNNER)}")
