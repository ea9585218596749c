"""Lists of test files: the longest, and those that run on PostgreSQL. `python -m tests.support.files quick` prints those for `make test` there."""

from __future__ import annotations

import sys

# Files that take longer than two minutes of a busy machine, the longest first: begun last, one of them would keep the others waiting at the end.
LONG = (
    "tests/ops/test_containers.py",
    "tests/ops/test_production.py",
    "tests/league/management/test_upgrade.py",
    "tests/chaos/test_chaos.py",
    "tests/engine/runner/test_kits.py",
    "tests/league/management/test_serve.py",
    "tests/bots/test_house.py",
    "tests/league/web/matches/test_tables.py",
    "tests/league/web/test_accessible.py",
    "tests/engine/test_compiled.py",
    "tests/league/domain/volunteers/test_volunteers.py",
    "tests/ops/test_silence.py",
    "tests/hostile/test_battery.py",
    "tests/league/service/test_web_worker.py",
    "tests/engine/sandbox/test_languages.py",
    "tests/ops/test_stack.py",
    "tests/engine/sandbox/test_other_kernel.py",
    "tests/engine/runner/test_grid.py",
    "tests/league/domain/puzzles/test_finding.py",
    "tests/league/domain/puzzles/test_mistakes.py",
    "tests/engine/sandbox/test_container.py",
    "tests/league/web/test_bad_input.py",
    "tests/league/domain/upkeep/test_between.py",
    "tests/league/web/test_browser.py",
    "tests/league/domain/jobs/test_process.py",
    "tests/ops/test_wheel.py",
)

# Tests that read or write rows: `make slow` runs the quick ones on PostgreSQL, too.
ROWS = (
    "tests/league/domain",
    "tests/league/management",
    "tests/league/api",
    "tests/league/response_cache",
    "tests/league/web/test_bad_input.py",
)
# Files and tests, among these, of what PostgreSQL does in another way: each runs there in its part, the quick ones in `make test`. They are about
# locks and SKIP LOCKED (claims, reports, turns, guests), what the workers' role may do, constraints and types (words, moves, sums), collation
# (names, paging), text that PostgreSQL refuses (bad input), and queries and triggers that are written by hand for it (the response cache).
POSTGRESQL = (
    *(
        f"tests/league/domain/core/test_{name}.py"
        for name in ("names", "paging", "queue", "search_words", "transitions", "words")
    ),
    "tests/league/domain/matches/test_leases.py",
    "tests/league/domain/matches/test_reports.py",
    "tests/league/domain/matches/test_fairness.py",
    *(
        f"tests/league/domain/{room}/test_role.py"
        for room in ("bots", "consultations", "judgements", "matches", "puzzles", "remote", "tables")
    ),
    "tests/league/domain/ratings/test_totals.py",
    "tests/league/domain/tables/test_guests.py::test_guests_who_come_at_once_do_not_take_more_than_their_part",
    "tests/league/api/test_paging.py",
    "tests/league/web/test_bad_input.py",
    "tests/league/response_cache/test_addresses.py::test_unchanged_answers_are_given_again",
    *(
        f"tests/league/response_cache/test_store.py::test_{name}"
        for name in (
            "each_change_counts_for_its_keys",
            "folding_leaves_the_counts",
            "missing_triggers_are_created_again",
            "a_lost_connection_is_replaced",
        )
    ),
)
# Files, among these, whose slow tests send statements to the database that no quick test sends: `make slow` runs those there, too.
STATEMENTS = (
    "tests/league/domain/bots/test_choices.py",
    "tests/league/domain/bots/test_totals.py",
    "tests/league/domain/judgements/test_judgements.py",
    "tests/league/domain/ladders/test_version_tests.py",
    "tests/league/domain/matches/test_health.py",
    "tests/league/domain/matches/test_releases.py",
    *(f"tests/league/domain/ratings/test_{name}.py" for name in ("daily", "ratings", "refits", "revisions")),
    "tests/league/domain/tournaments/test_consent.py",
)
# Not those that start real workers (tests/chaos and tests/ops do that on PostgreSQL) and those that bring a database of their own.
APART = (
    "tests/league/domain/jobs/test_process.py",
    "tests/league/domain/jobs/test_platform_faults.py",
    "tests/league/domain/matches/test_faults_shown.py",
    "tests/league/domain/tournaments/test_formats_played.py",
    "tests/league/domain/matches/test_concurrency.py",
    "tests/league/domain/upkeep/test_between.py",
    "tests/league/domain/tournaments/test_new_format.py",
    "tests/league/domain/ladders/test_live.py",
    "tests/league/management/test_serve.py",
    "tests/league/management/test_upgrade.py",
)

if __name__ == "__main__":
    print(*(POSTGRESQL if sys.argv[1] == "quick" else ROWS))
