"""The page of a tournament for its owner and others: corrections with their rights, the log, the end in words, and downloads."""

from __future__ import annotations

import csv
import io

import pytest

from league.domain.tournaments import progress
from league.models import Event, Tournament
from tests.league.web.page import Page, faults
from tests.support import league as made


def _finish(cup: Tournament) -> None:
    while match := cup.matches.filter(status="queued").first():
        numbers = list(match.parties.order_by("number").values_list("version_id", flat=True))
        made.play(match, winner=numbers.index(min(numbers)))
    progress.advance(cup, now=made.later(60))


@pytest.fixture
def ended(league):
    cup = made.started(league.ana, [league.rufo, league.luna, league.sol])
    _finish(cup)
    return cup


@pytest.mark.slow
def test_the_place_of_a_correction_is_inside_its_fold_so_that_a_link_opens_it(ended, owner) -> None:
    page = owner.get(f"/t/{ended.slug}/").content.decode()
    fold = page[page.index("Descalificar un bot</summary>") :]
    assert 'id="correct"' in fold[: fold.index("</details>")]


def test_only_the_owner_corrects(league, owner, stranger, reader) -> None:
    cup = league.next_cup
    url = f"/t/{cup.slug}/do/"
    entry = cup.entries.first()
    acts = [
        {"action": "save", "name": "Otra", "description": "x"},
        {"action": "close_entries"},
        {"action": "delete", "sure": "1"},
        {"action": "cancel", "sure": "1"},
    ]
    for sent in acts:
        assert stranger.post(url, sent).status_code == 403, sent
        assert reader.post(url, sent).url.startswith("/accounts/login/"), sent
    stranger.post(url, {"action": "disqualify", "entry": entry.pk, "why": "x"})
    stranger.post(url, {"action": "replace", "entry": entry.pk})
    cup.refresh_from_db()
    entry.refresh_from_db()
    assert (cup.status, entry.disqualified) == ("open", None)
    owner.post(url, acts[0])
    owner.post(url, acts[1])
    cup.refresh_from_db()
    assert (cup.name, cup.description, cup.entrance) == ("Otra", "x", "owner")
    page = Page(owner.get(f"/t/{cup.slug}/").content.decode())
    assert faults(page) == []
    assert "cerró la inscripción" in page.text
    assert (
        "Los bots de este torneo los elige quien lo organiza"
        in Page(stranger.get(f"/t/{cup.slug}/").content.decode()).text
    )


def test_nothing_final_happens_without_a_tick(league, owner) -> None:
    url = f"/t/{league.next_cup.slug}/"
    for action in ("cancel", "delete"):
        assert "Marca la casilla" in owner.post(f"{url}do/", {"action": action}, follow=True).content.decode()
    assert Tournament.objects.get(pk=league.next_cup.pk).status == "open"
    assert owner.post(f"{url}do/", {"action": "delete", "sure": "1"}).url == "/t/"
    assert owner.get(url).status_code == 404


def test_a_cancelled_one_leaves_the_list(league, owner, reader) -> None:
    name = league.next_cup.name
    assert name in reader.get("/t/").content.decode()
    owner.post(f"/t/{league.next_cup.slug}/do/", {"action": "cancel", "sure": "1"})
    assert name not in reader.get("/t/").content.decode()
    assert name in owner.get("/t/").content.decode(), "its owner finds it among their own"


def test_the_end_names_the_winner_and_what_is_proven(ended, owner, reader) -> None:
    page = Page(reader.get(f"/t/{ended.slug}/").content.decode())
    assert f"rufo gana {ended.name}" in page.text
    assert [link for link in page.links if link.startswith("/t/new/?") and "with=rufo" in link]
    entry = ended.entries.get(version__bot__slug="rufo")
    owner.post(f"/t/{ended.slug}/do/", {"action": "disqualify", "entry": entry.pk, "why": "Dos bots de uno"})
    page = Page(reader.get(f"/t/{ended.slug}/").content.decode())
    assert f"luna gana {ended.name}" in page.text
    assert "descalificado" in page.text
    assert "Dos bots de uno" in page.text
    owner.post(f"/t/{ended.slug}/do/", {"action": "reinstate", "entry": entry.pk})
    assert f"rufo gana {ended.name}" in Page(reader.get(f"/t/{ended.slug}/").content.decode()).text


@pytest.mark.slow
def test_standings_matches_and_crosstable_are_downloaded(ended, reader) -> None:
    rows = list(csv.reader(io.StringIO(reader.get(f"/t/{ended.slug}/crosstable.csv").content.decode())))
    assert rows[0][1].startswith("rufo")
    assert [len(row) for row in rows] == [4, 4, 4, 4]
    assert rows[1][1] == "", "nobody meets themselves"
    matches = list(csv.DictReader(io.StringIO(reader.get(f"/t/{ended.slug}/matches.csv").content.decode())))
    assert len(matches) == 6
    assert {row["bot"] for row in matches} == {"rufo", "luna", "sol"}


def test_downloads_of_a_private_tournament_are_not_for_strangers(league, owner, reader) -> None:
    sent = {"name": "Secreta", "boards": "1", "private": "on", "bots": ["rufo", "luna"], "action": "start"}
    owner.post("/t/new/?game=partnership", sent)
    stage = Event.objects.get().tournaments.get()
    for file in ("matches.csv", "crosstable.csv", "standings.csv"):
        assert reader.get(f"/t/{stage.slug}/{file}").status_code == 404
        assert owner.get(f"/t/{stage.slug}/{file}").status_code == 200


@pytest.mark.slow
def test_the_chip_says_paused(league, owner) -> None:
    cup = made.started(league.ana, [league.rufo, league.luna])
    owner.post(f"/t/{cup.slug}/do/", {"action": "pause"})
    assert 'class="chip paused"' in owner.get(f"/t/{cup.slug}/").content.decode()


def test_an_open_tournament_is_entered_with_one_button(league, owner, stranger) -> None:
    sent = {"name": "Abierta", "boards": "1", "due": "", "entries_from": "", "format": "groups", "action": "open"}
    owner.post("/t/new/?game=partnership", {**sent, "bots": ["rufo"]})
    event = Event.objects.get()
    page = stranger.get(f"/e/{event.slug}/").content.decode()
    assert 'value="enter"' in page
    stranger.post(f"/e/{event.slug}/enter/", {"action": "enter", "bot": "luna"})
    assert "luna" in Page(owner.get(f"/e/{event.slug}/").content.decode()).text
    assert event.requests.filter(bot__slug="luna", status="granted").exists()
