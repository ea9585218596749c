"""`manage.py check --deploy` names what is unsafe or lame about the settings."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from django.core.management import call_command

from league.service import checks


@pytest.mark.parametrize(
    ("tier", "least", "ids"),
    [
        ("auto", "landlock", []),
        ("namespaces", "namespaces", []),
        ("none", "none", ["league.W001"]),
        ("auto", "none", ["league.W001"]),
        ("jail", "landlock", ["league.E001"]),
        ("auto", "auto", ["league.E002"]),
    ],
)
def test_sandbox_settings(settings, tier: str, least: str, ids: list[str]) -> None:
    settings.SANDBOX_TIER, settings.SANDBOX_MIN_TIER = tier, least

    assert [message.id for message in checks.sandbox_settings()] == ids


def test_every_command_warns_of_unsafe_settings_and_leaves_the_rest_to_check(settings, db, capsys) -> None:
    settings.SANDBOX_TIER = settings.SANDBOX_MIN_TIER = "none"
    settings.ROOT_URLCONF = "no.such.pages"

    call_command("check_invariants", skip_checks=False)

    assert "league.W001" in capsys.readouterr().err


def test_production_services(settings, monkeypatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    settings.BROKER_URL = "filesystem://"
    assert [message.id for message in checks.production_services()] == ["league.W002", "league.W003"]

    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    settings.BROKER_URL = "redis://localhost/0"
    assert checks.production_services() == []


@pytest.mark.parametrize(("trusted", "expected"), [(False, ["league.W004"]), (True, [])])
def test_redirect_for_ever(settings, trusted, expected) -> None:
    settings.HTTPS_REDIRECT, settings.TRUST_PROXY = True, trusted

    assert [message.id for message in checks.redirect_behind_a_proxy()] == expected


def test_an_operator_hears_nothing_of_how_the_document_of_the_api_is_made() -> None:
    assert [
        message.msg
        for message in run_checks(include_deployment_checks=True)
        if message.id.startswith("drf_spectacular")
    ] == []
