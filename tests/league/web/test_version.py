"""Operators can ask a running site which program it is."""

from __future__ import annotations

from django.test import Client

import engine


def test_the_version_says_whether_the_rules_run_compiled(client: Client) -> None:
    told = client.get("/version").json()

    assert (told["engine"], told["compiled"]) == (engine.__version__, engine.COMPILED)
    assert sorted(told) == ["compiled", "django", "engine", "python"]
