"""Settings are read strictly."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from league.service import env, web_guard


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("Yes", True), ("on", True), ("0", False), ("False", False), ("", False)]
)
def test_envbool_reads_yes_and_no(monkeypatch, text: str, value: bool) -> None:
    monkeypatch.setenv("X", text)

    assert env.envbool("X", not value) is value


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("1", ["192.0.2.1", "2001:db8::1"], []),
        ("0", [], ["127.0.0.1", "::1"]),
        (
            "10.0.0.7, 2001:db8::/64",
            ["10.0.0.7", "::ffff:10.0.0.7", "2001:db8::9"],
            ["10.0.0.8", "2001:db8:1::", "x", ""],
        ),
    ],
)
def test_proxies_are_all_none_or_listed(monkeypatch, text: str, inside: list[str], outside: list[str]) -> None:
    monkeypatch.setenv("X", text)
    networks = env.envproxies("X")
    assert [web_guard.is_in(address, networks) for address in inside + outside] == [True] * len(inside) + [False] * len(
        outside
    )


def test_bad_values_stop_with_the_value_shown(monkeypatch) -> None:
    monkeypatch.setenv("X", "maybe")
    with pytest.raises(ImproperlyConfigured, match="X='maybe' is not a yes or no"):
        env.envbool("X", True)
    with pytest.raises(ImproperlyConfigured, match="X='maybe' is not a whole number"):
        env.envint("X", 1)
    with pytest.raises(
        ImproperlyConfigured, match="'maybe' does not appear to be an IPv4 or IPv6 network; write 1, 0, or"
    ):
        env.envproxies("X")
    monkeypatch.setenv("X", "1")
    with pytest.raises(ImproperlyConfigured, match="X=1 is too small; it must be at least 2"):
        env.envint("X", 3, least=2)


def test_values_may_stand_in_files(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("X_FILE", str(tmp_path / "x"))
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        env.envstr("X")
    (tmp_path / "x").write_text("secret\n")
    assert env.envstr("X") == "secret"
    monkeypatch.setenv("X", "other")
    with pytest.raises(ImproperlyConfigured, match="both X and X_FILE are set"):
        env.envstr("X")


def test_secret_is_demanded_in_production(monkeypatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)

    with pytest.raises(ImproperlyConfigured, match="A league in production needs its own"):
        env.envsecret("SECRET_KEY", keep_in=None)


def test_secret_is_made_once_and_kept_for_its_owner_alone(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    path = tmp_path / "state" / "secret_key"

    first = env.envsecret("SECRET_KEY", keep_in=path)

    assert (env.envsecret("SECRET_KEY", keep_in=path), len(first)) == (first, 67)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]


def test_a_secret_that_the_disk_has_emptied_is_made_anew(monkeypatch, tmp_path: Path) -> None:
    """An empty key would let anyone forge a signature."""
    monkeypatch.delenv("SECRET_KEY", raising=False)
    path = tmp_path / "secret_key"
    path.touch()

    with ThreadPoolExecutor(4) as pool:
        secrets = set(pool.map(lambda _: env.envsecret("SECRET_KEY", keep_in=path), range(4)))

    assert [len(secret) for secret in secrets] == [67]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_embedded_database_waits_for_its_disk(db) -> None:
    if connection.vendor != "sqlite":
        assert settings.DATABASES["default"]["ENGINE"].endswith("postgresql")  # It waits by default
        return
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)


def test_database_urls() -> None:
    sqlite = env.database("sqlite:////srv/league.sqlite3")
    assert (sqlite["NAME"], sqlite["OPTIONS"]["transaction_mode"]) == ("/srv/league.sqlite3", "IMMEDIATE")
    server = env.database("postgresql://ana:p%40ss@db.example:5433/tute?sslmode=require")
    fields = {key: server[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS", "CONN_HEALTH_CHECKS")}
    assert fields == {
        "NAME": "tute",
        "USER": "ana",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": env.NOTICE_LOSS | {"sslmode": "require"},
        "CONN_HEALTH_CHECKS": True,
    }
    assert server["DISABLE_SERVER_SIDE_CURSORS"] is False
    pooled = env.database("postgresql://ana@db.example/tute?pool_mode=transaction&sslmode=require")
    assert (pooled["DISABLE_SERVER_SIDE_CURSORS"], pooled["OPTIONS"]) == (True, server["OPTIONS"])
    patient = env.database("postgresql://ana@db.example/tute?connect_timeout=60")
    assert patient["OPTIONS"] == env.NOTICE_LOSS | {"connect_timeout": "60"}
    with pytest.raises(ImproperlyConfigured, match="pool_mode='statement'"):
        env.database("postgresql://ana@db.example/tute?pool_mode=statement")


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "postgresql://host", "sqlite://host/file", "sqlite://", "postgres://h:port/n"]
)
def test_database_urls_that_cannot_be_are_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        env.database(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (None, ("localhost", 25, "", "", False, False)),
        ("smtp://me:a%40b@mail.example:2525", ("mail.example", 2525, "me", "a@b", False, True)),
        ("smtp://mail.example:25?tls=no", ("mail.example", 25, "", "", False, False)),
        ("smtps://mail.example", ("mail.example", 465, "", "", True, False)),
    ],
)
def test_mail_servers(url, expected) -> None:
    assert env.mail_server(url) == expected


@pytest.mark.parametrize("url", ["mail.example", "http://me:secret@mail.example", "smtp://me:secret@mail.example:x"])
def test_mail_servers_that_cannot_be_are_refused_without_showing_a_password(url) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        env.mail_server(url)

    assert "secret" not in str(refused.value)


def test_an_installed_league_keeps_its_data_where_its_bots_may_pass(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert env.data_home() == tmp_path / "tute-league"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ana")
    assert env.data_home() == Path("/home/ana/.local/share/tute-league")
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert env.data_home() == Path("/var/lib/tute-league")
