"""A match that finishes between any two statements of what the league does changes no table: nothing is lost, nothing counted twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

from tests.support import migrated
from tests.support.between import ACTS, OTHERS
from tests.support.postgres import PostgresServer

# Four processes, each with a database of its own, take as long as one another: the acts wait for locks most of the time
PARTS = (
    ("put_right",),
    ("count_anew", "check", "upload_while_another_does"),
    ("show", "count_in_stages", "fit_and_rank", "enter_while_the_policy_changes"),
    (
        "extend_while_it_ends",
        "grant_while_it_starts",
        "count_while_audits_are_drawn",
        "rerun_while_it_is_held_back",
        "draw_while_another_draws",
    ),
)


@pytest.fixture
def databases(postgres_server: PostgresServer) -> Iterator[list[str]]:
    """The address of a migrated, empty database for each part."""
    urls = [migrated.create_database(postgres_server) for _ in PARTS]
    yield urls
    for url in urls:
        postgres_server.drop_database(url)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # some minutes where nothing else runs
def test_a_match_finishes_between_any_two_statements(databases: list[str], tmp_path: Path) -> None:
    def disturb(part: tuple[str, ...], url: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "DATABASE_URL": url,
            "STATE_DIR": str(tmp_path / part[0]),
            "BROKER_URL": "filesystem://",
            "SECRET_KEY": "only for this test",
            "UPLOADS_PER_HOUR": "1000",
            "AUDIT_PERCENT": "0",
        }
        words = [sys.executable, "-m", "tests.support.between", *part]
        return subprocess.run(
            words, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=1750
        )

    with ThreadPoolExecutor(len(PARTS)) as pool:
        ended = list(pool.map(disturb, PARTS, databases))

    for part, process in zip(PARTS, ended, strict=True):
        assert process.returncode == 0, process.stderr
        assert "Traceback" not in process.stdout, process.stdout
        moments = dict(line.split(": ", 1) for line in process.stdout.splitlines())
        assert tuple(moments) == part, process.stdout
        assert all(int(moment.removesuffix(" moments")) >= 10 for moment in moments.values())


def test_every_act_is_disturbed() -> None:
    """None that `tests.support.between` knows is left out of the parts."""
    assert sorted(act for part in PARTS for act in part) == sorted([*ACTS, *(act.__name__ for act in OTHERS)])
