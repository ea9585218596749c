"""The tab of a game with the lab's reports: every game, both languages, and what it shows without a report."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from league.web.games import lab

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_game_shows_its_stored_numbers_with_intervals(client: Client, language: str) -> None:
    keys = sorted(path.stem for path in lab.FOLDER.glob("*.json"))
    assert len(keys) >= 21
    for key in keys:
        text = client.get(f"/g/{key}/?tab=lab", headers={"accept-language": language}).content.decode()
        reports = json.loads((lab.FOLDER / f"{key}.json").read_text(encoding="utf-8"))

        for report in reports:
            assert report["digest"][:16] in text
        assert (
            f"{100 * reports[0]['measures']['luck'][0]:.1f}".replace("-", "−").replace(
                ".", "," if language == "es" else "."
            )
            in text
        )
        assert ("Suerte" in text) == (language == "es")


def test_the_question_of_singing_forty_has_an_answer(client: Client) -> None:
    text = client.get("/g/partnership/?tab=lab", headers={"accept-language": "es"}).content.decode()

    assert "Deciden las cuarenta" in text
    assert text.count('class="interval"') > 20


def test_a_report_of_earlier_rules_is_not_shown(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lab")
    reports = json.loads((lab.FOLDER / "brisca.json").read_text(encoding="utf-8"))
    (folder / "brisca.json").write_text(
        json.dumps([report | {"revision": 999} for report in reports]), encoding="utf-8"
    )
    monkeypatch.setattr(lab, "FOLDER", folder)
    lab.reports_of.cache_clear()
    try:
        for key in ("brisca", "guinote"):
            assert "no report of this game yet" in client.get(f"/g/{key}/?tab=lab").content.decode()
    finally:
        lab.reports_of.cache_clear()
