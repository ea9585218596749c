"""Parts of the suite: which tests could notice a setting, and why these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Files or folders of tests. Slow tests are left out."""

    why: str
    tests: tuple[str, ...]


CLOCK = Part(
    "what reads the clock, counts days or writes dates for people and for other programs",
    (
        "tests/engine/cli/test_series.py",
        "tests/engine/cli/test_reveal.py",
        "tests/engine/packages/test_archive.py",
        "tests/league/api/test_paging.py",
        "tests/league/api/tournaments/test_events.py",
        "tests/league/domain/core",
        "tests/league/domain/matches/test_broadcast.py",
        "tests/league/domain/matches/test_leases.py",
        "tests/league/domain/people",
        "tests/league/domain/ratings/test_daily.py",
        "tests/league/domain/tournaments/test_events.py",
        "tests/league/domain/upkeep/test_retention.py",
        "tests/league/domain/upkeep/test_dumping.py",
        "tests/league/pure/calendar",
        "tests/league/service/test_logs.py",
        "tests/league/test_story.py",
        "tests/league/web/matches/test_puzzles.py",
        "tests/league/web/test_digests.py",
        "tests/league/web/test_tags.py",
        "tests/league/web/tournaments/test_due.py",
        "tests/league/web/tournaments/test_events.py",
        "tests/ops/test_remote.py",
    ),
)
WORDS = Part(
    "what reads or writes text: files, other programs' messages, upper and lower case, sorted names, numbers with a decimal point",
    (
        "tests/bots/test_docs.py",
        "tests/bots/test_kits.py",
        "tests/bots/test_sdk.py",
        "tests/engine/cards",
        "tests/engine/cases",
        "tests/engine/cli",
        "tests/engine/packages",
        "tests/engine/rulebook",
        "tests/engine/rules",
        "tests/engine/runner/test_copies.py",
        "tests/engine/runner/test_faults.py",
        "tests/engine/runner/test_protocol.py",
        "tests/engine/sandbox/test_runtimes.py",
        "tests/engine/sandbox/test_small_parts.py",
        "tests/engine/test_replays.py",
        "tests/league/domain/bots/test_bots.py",
        "tests/league/domain/core",
        "tests/league/management",
        "tests/league/pure/test_names.py",
        "tests/league/service",
        "tests/league/web/test_letters.py",
        "tests/ops/test_setup.py",
    ),
)
CORES = Part(
    "what counts cores, pins processes to them, starts several workers or judges a wait",
    (
        "tests/engine/cli/test_series.py",
        "tests/engine/runner",
        "tests/engine/sandbox/test_process.py",
        "tests/engine/sandbox/test_wall.py",
        "tests/engine/sandbox/test_workers.py",
        "tests/engine/search/test_batch.py",
        "tests/league/domain/matches/test_fairness.py",
        "tests/league/service/test_web_worker.py",
    ),
)
PLACES = Part(
    "what hands a path to another program: set-up, sandbox, runtimes, compilers, packages, commands, servers, pages' files",
    (
        "tests/bots/test_docs.py",
        "tests/bots/test_kits.py",
        "tests/bots/test_kit_views.py",
        "tests/bots/test_sdk.py",
        "tests/engine/cli",
        "tests/engine/packages",
        "tests/engine/runner/test_kits.py",
        "tests/engine/runner/test_match.py",
        "tests/engine/sandbox/test_cgroups.py",
        "tests/engine/sandbox/test_container.py",
        "tests/engine/sandbox/test_process.py",
        "tests/engine/sandbox/test_runtimes.py",
        "tests/engine/sandbox/test_sealed.py",
        "tests/engine/sandbox/test_tiers.py",
        "tests/league/domain/bots",
        "tests/league/domain/upkeep/test_dumping.py",
        "tests/league/management",
        "tests/league/service",
        "tests/ops/test_readme.py",
        "tests/ops/test_remote.py",
        "tests/ops/test_servers.py",
        "tests/ops/test_setup.py",
    ),
)
RIGHTS = Part(
    "what asks for rights: the sandbox and its users, servers, files of the state directory, commands of an author",
    (
        "tests/bots/test_docs.py",
        "tests/bots/test_kits.py",
        "tests/bots/test_sdk.py",
        "tests/engine/cli",
        "tests/engine/packages",
        "tests/engine/runner",
        "tests/engine/sandbox/test_process.py",
        "tests/engine/sandbox/test_runtimes.py",
        "tests/engine/sandbox/test_sealed.py",
        "tests/engine/sandbox/test_small_parts.py",
        "tests/engine/sandbox/test_tiers.py",
        "tests/engine/sandbox/test_workers.py",
        "tests/hostile/test_battery.py",
        "tests/league/domain/bots",
        "tests/league/service",
        "tests/ops/test_servers.py",
        "tests/ops/test_setup.py",
    ),
)
ORDER = Part(
    "what keeps something between two calls, or draws, deals, ranks and pairs: none of it may hang on the order of tests or of a set",
    (
        "tests/engine/cards",
        "tests/engine/cases",
        "tests/engine/match",
        "tests/engine/rules",
        "tests/engine/runner",
        "tests/engine/search/test_deals.py",
        "tests/engine/search/test_kept.py",
        "tests/engine/search/test_knowledge.py",
        "tests/league/domain",
        "tests/league/pure",
        "tests/league/service",
        "tests/league/response_cache",
        "tests/league/test_story.py",
        "tests/league/web/matches",
        "tests/league/web/test_pages.py",
    ),
)
SYSTEMS = Part(
    "what hangs on the version of Python, of a library of the lock, or of the system's programs: draws, sums, types, compilers, sandbox, servers",
    (
        "tests/bots",
        "tests/engine/adapters",
        "tests/engine/cards",
        "tests/engine/cli",
        "tests/engine/match",
        "tests/engine/packages",
        "tests/engine/runner",
        "tests/engine/sandbox/test_container.py",
        "tests/engine/sandbox/test_filter.py",
        "tests/engine/sandbox/test_process.py",
        "tests/engine/sandbox/test_runtimes.py",
        "tests/engine/sandbox/test_sealed.py",
        "tests/engine/sandbox/test_syscall_sources.py",
        "tests/engine/sandbox/test_tiers.py",
        "tests/engine/search/test_kept.py",
        "tests/engine/test_golden.py",
        "tests/engine/test_portable.py",
        "tests/hostile/test_battery.py",
        "tests/league/models",
        "tests/league/pure",
        "tests/league/service",
        "tests/league/test_story.py",
        "tests/ops/test_imports.py",
        "tests/ops/test_remote.py",
        "tests/ops/test_setup.py",
    ),
)
PARTS = (CLOCK, WORDS, CORES, PLACES, RIGHTS, ORDER, SYSTEMS)
