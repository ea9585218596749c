"""Operators can ask a running site which program it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

import engine
from league.service import logs, version


def test_the_version_says_whether_the_rules_run_compiled(client: Client) -> None:
    report = client.get("/version").json()

    assert (report["engine"], report["compiled"]) == (engine.__version__, engine.COMPILED)
    assert sorted(report) == ["commit", "compiled", "django", "engine", "python"]
    assert report["commit"] == version.commit()


def test_the_commit_is_that_of_the_build_or_of_the_working_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for last in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*words, *last], cwd=tmp_path, check=True)
    process = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True)

    assert version._ask_git(tmp_path) == process.stdout.strip()
    assert version._ask_git(tmp_path / "elsewhere") is None
    monkeypatch.setenv("BUILD_COMMIT", "0123abc")
    version.commit.cache_clear()
    assert version.commit() == "0123abc"
    version.commit.cache_clear()


def test_a_process_is_alive_before_it_is_ready(client: Client, db: None) -> None:
    assert (client.get("/healthz").content, client.get("/readyz").content) == (b"ok\n", b"ok\n")

    MigrationRecorder.Migration.objects.filter(app="league", name="0001_squashed_0079_consultations").delete()

    answer = client.get("/readyz")
    assert (answer.status_code, client.get("/healthz").status_code) == (503, 200)
    assert (
        b"1 migrations are missing, the first is league.0001_squashed_0079_consultations: run manage.py migrate"
        in answer.content
    )


def test_every_answer_tells_its_number_and_only_a_proxy_of_ours_may_choose_it(client: Client, settings) -> None:
    headers = {"X-Request-ID": "0123456789abcdef"}
    first, second = (client.get("/healthz", headers=headers).headers["X-Request-ID"] for _ in range(2))
    assert len({first, second, headers["X-Request-ID"]}) == 3

    settings.TRUST_PROXY = True
    assert client.get("/healthz", headers=headers).headers["X-Request-ID"] == headers["X-Request-ID"]
    assert (
        client.get("/healthz", headers={"X-Request-ID": "a\tb c d e f g"}).headers["X-Request-ID"] != "a\tb c d e f g"
    )


@pytest.mark.parametrize("allowed", [["league.example"], [".example.org", "localhost"], ["*"]])
def test_probes_may_ask_by_an_address_and_by_no_other_name(allowed: list[str], settings, db: None) -> None:
    """Balancers and Prometheus ask by the address of the machine. A name that is none of ours may be a page's that points it here."""
    settings.ALLOWED_HOSTS = allowed

    def asked_by(host: str, path: str) -> int:
        return Client().get(path, headers={"host": host}).status_code

    for path in ("/healthz", "/readyz", "/metrics", "/version"):
        for host in (
            "10.0.0.7",
            "10.0.0.7:8000",
            "[2001:db8::1]:8000",
            "localhost:8000",
            allowed[0].lstrip(".*") or "x",
        ):
            assert asked_by(host, path) == 200, (host, path)
        for host in ("evil.example", "evil.example:8000", "10.0.0.7.evil.example", "localhost.evil.example"):
            assert asked_by(host, path) == (200 if allowed == ["*"] else 400), (host, path)
    assert asked_by("10.0.0.7", "/") == (200 if allowed == ["*"] else 400)


def test_another_host_is_one_line_of_the_log(settings, caplog: pytest.LogCaptureFixture, db: None) -> None:
    settings.ALLOWED_HOSTS = ["league.example"]
    Client(SERVER_NAME="10.0.0.7").get("/")

    [record] = [record for record in caplog.records if record.name == "django.security.DisallowedHost"]
    line = logs.Plain(logs.PLAIN).format(record)
    assert "10.0.0.7" in line
    assert "\n" not in line
