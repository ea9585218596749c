"""The page of a bot: its tabs, the three questions of its owner, and comparisons."""

from __future__ import annotations

from functools import partial

import pytest

from engine.judging import Child
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking
from league.models import Match, Party, VersionTest
from tests.league.web.page import text as page_text
from tests.support import jobs
from tests.support import league as made
from tests.support.league import NOW

text = partial(page_text, lang="en")


def test_each_tab_shows_its_part_and_settings_are_the_owners(league, reader, owner) -> None:
    assert "Latest matches" in text(reader, "/bots/rufo/")
    assert "What do these numbers mean?" in text(reader, "/bots/rufo/?tab=games")
    assert "Bots and boards won" in text(reader, "/bots/rufo/?tab=matches")
    assert "Uploaded" in text(reader, "/bots/rufo/?tab=versions")
    assert "Retire permanently" in text(owner, "/bots/rufo/?tab=settings")
    for tab in ("settings", "odd"):
        assert "Retire permanently" not in text(reader, f"/bots/rufo/?tab={tab}")
    assert "tab=settings" not in reader.get("/bots/rufo/").content.decode()


def test_ratings_and_results_are_one_table(league, reader) -> None:
    page = text(reader, "/bots/luna/?tab=games")
    assert page.count("Won – drawn – lost Points a board") == 1
    assert "Results by game" not in page


def test_the_owner_reads_what_to_do_and_nobody_else_does(league, reader, owner) -> None:
    Party.objects.filter(match=league.faulty, version=league.rufo).update(wins=0, draws=0, losses=2)
    page = text(owner, "/bots/rufo/")
    assert "Why did it lose? Last lost against" in page
    assert "See what each decision gave away" in page
    assert "Open version 1 in the editor" in page
    assert "What next" not in text(reader, "/bots/rufo/")


@pytest.mark.slow
def test_the_dearest_mistakes_of_the_last_loss_open_in_the_editor(league, client, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))
    match = league.clean
    loser = match.parties.select_related("version__bot__owner__user").order_by("number")[0]
    Party.objects.filter(pk=loser.pk).update(wins=0, draws=0, losses=2)
    asking.ask(match, "open", loser.version.bot.owner, now=NOW)
    Match.objects.filter(status="queued").update(held_back=True)
    job = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert job is not None
    assert jobs.run(job, now=NOW)
    client.force_login(loser.version.bot.owner.user)
    page = client.get(f"/bots/{loser.version.bot.slug}/").content.decode()
    assert page.count(f"/m/{match.public_id}/open/?b=") in (1, 2, 3)
    assert "−" in page


def test_the_page_says_in_words_whether_a_version_is_better(league, owner) -> None:
    second = made.accepted(league.ana, "rufo")
    test = VersionTest.objects.create(game="partnership", version=second, before=league.rufo, begun=NOW)
    assert "It is too early to say whether version 2 is better than version 1." in text(owner, "/bots/rufo/")
    row = VersionTest.objects.filter(pk=test.pk)
    row.update(won=47, drawn=3, lost=22, llr=1.7)
    page = text(owner, "/bots/rufo/")
    assert (
        "Version 2 is probably better than version 1. It has 67.4% of 72 boards. About 56 more boards to be sure."
        in page
    )
    assert "LLR" not in page
    row.update(won=22, lost=47, llr=-1.7)
    assert "Version 2 is probably not better than version 1." in text(owner, "/bots/rufo/")
    row.update(verdict="stronger", decided=NOW)
    assert "Version 2 is better than version 1." in text(owner, "/bots/rufo/")
    row.update(verdict="not_stronger")
    assert "Version 2 is not better than version 1." in text(owner, "/bots/rufo/?tab=versions")


def test_any_two_bots_are_compared_by_name(league, reader) -> None:
    assert reader.get("/bots/luna/vs/?with=sol").url == "/bots/luna/vs/sol/"
    assert reader.get("/bots/luna/vs/?with=luna").url == "/bots/luna/vs/luna/"
    assert reader.get("/bots/luna/vs/?with=nobody").url == "/bots/luna/"
    assert reader.get("/bots/nobody/vs/?with=luna").status_code == 404
    assert reader.post("/bots/luna/vs/").status_code == 405


def test_the_owner_plays_two_versions_against_each_other(league, reader, owner) -> None:
    made.accepted(league.ana, "rufo")
    assert "Play any two versions" not in text(reader, "/bots/rufo/vs/rufo/")
    assert "Play any two versions" in text(owner, "/bots/rufo/vs/rufo/")
    form = {"with": "rufo/2", "version": "1", "game": "partnership", "boards": "16"}
    answer = owner.post("/bots/rufo/challenge/", form)
    match = Match.objects.get(public_id=answer.url.split("/")[2])
    assert [party.version.number for party in match.parties.order_by("number")] == [2, 1]
    assert match.rated is False
    again = owner.post("/bots/rufo/challenge/", {**form, "version": "2"})
    assert again.url == "/bots/rufo/vs/rufo/", "a version cannot play against itself"
    assert owner.post("/bots/rufo/challenge/", {**form, "with": "rufo/9"}).status_code == 404
