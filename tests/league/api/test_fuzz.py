"""Whatever is sent: no answer of 500 or above, and every refusal a problem. The client checks both on each call."""

from __future__ import annotations

import random

import pytest

from league.api.http.index import operations
from tests.league.api.client import ROOT
from tests.support.parts import mostly_slow

NASTY = [
    "", "0", "-1", "1", "2", "9" * 19, "9" * 400, "1e9", "NaN", "null", "true", "None", "a", "A", "a b", "%00", "%ff", "%F0%9F%90%8E",
    "..", "%2e%2e", "%2F", "'", '"', ";--", "<script>", "{}", "[]", "rufo", "luna", "cup", "public", "x" * 300, "٣", "%0d%0aX:%201",
]  # fmt: skip
VALUES = [
    None, True, False, 0, -1, 1.5, 2**31, 2**63, 10**40, "", "a", "rufo", "next-cup", "x" * 100_000, "\u202e", [], [[]], [None], {}, {"a": 1},
    {"key": 1}, {"players": 10**9}, [1] * 1000, "corriente", "partnership", ["rufo", "rufo"], {"": ""},
]  # fmt: skip
FIELDS = [
    "name",
    "game",
    "players",
    "options",
    "boards",
    "bots",
    "start",
    "bot",
    "version",
    "why",
    "label",
    "description",
    "state",
    "x",
]
PARAMS = [
    "cursor",
    "page_size",
    "seat",
    "status",
    "pool",
    "bot",
    "version",
    "q",
    "rated",
    "players",
    "every_version",
    "x",
    "format",
    "filename",
    "games",
]


@pytest.mark.parametrize("seed", mostly_slow(range(16), (0).__eq__))
def test_nothing_that_is_sent_breaks_the_server(as_alice, nobody, league, settings, seed):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {
            "anon": (10**6, 60),
            "user": (10**6, 60),
            "upload": (10**6, 60),
            "remote": (10**6, 60),
        },
    }
    rng = random.Random(seed)
    keys = [
        "rufo",
        "cup",
        "next-cup",
        str(league.pool.pk),
        league.faulty.public_id,
        str(league.rufo.pk),
        "corriente",
        "1",
        "0",
    ]
    statuses = set()
    for operation in operations() * 2:
        parts = operation["path"].removeprefix(f"{ROOT}/").split("/")
        path = "/".join(rng.choice(keys + NASTY) if part.startswith("{") else part for part in parts)
        query = "&".join(f"{rng.choice(PARAMS)}={rng.choice(NASTY)}" for _ in range(rng.choice([0, 0, 1, 2])))
        body = {rng.choice(FIELDS): rng.choice(VALUES) for _ in range(rng.randrange(5))}
        sent = rng.choice([None, body, rng.choice(VALUES), rng.randbytes(40)])
        kind = rng.choice(
            ["application/json", "multipart/form-data; boundary=x", "application/octet-stream", "", "text/html"]
        )
        caller = rng.choice([as_alice, nobody])
        address = f"{ROOT}/{path}?{query}".encode().decode("latin-1") if query else f"{ROOT}/{path}"
        headers = rng.choice(
            [{}, {"Idempotency-Key": rng.choice("abc")}, {"If-None-Match": "x"}, {"Accept": "text/html"}]
        )
        method = rng.choice([operation["method"], operation["method"], "GET", "POST"])
        response = caller.call(
            method, address, sent, headers=headers, **({"content_type": kind} if sent is not None else {})
        )
        statuses.add(response.status_code)

    assert {200, 400, 404} <= statuses
