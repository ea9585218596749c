"""The page of a tournament in each format: its bracket, its rounds, its tie-breaks, how it ended."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.matches import matches
from league.domain.tournaments import corrections, progress, tournaments
from league.enums import Seeding
from league.models import Match, Tournament
from league.pure.formats import FORMATS
from league.web.tournaments import tiebreaks
from league.web.tournaments.brackets import brackets
from tests.league.web.page import Page, faults
from tests.support import league as made
from tests.support import rows
from tests.support.parts import mostly_slow


@pytest.fixture
def field(league):
    return rows.once(make_field, league)


def make_field(league):
    return [league.rufo, league.luna, league.sol, *(made.accepted(league.berto, name) for name in ("vega", "zoe"))]


def cup(league, versions, form: str, *, boards: int = 2, **parameters: object) -> Tournament:
    tournament = tournaments.create(
        league.ana,
        "Format",
        "partnership",
        boards=boards,
        versions=versions[: FORMATS[form].most or len(versions)],
        format=form,
        parameters=parameters,
        seeding=Seeding.ENTRY,
        secret=made.SECRET,
        now=made.NOW,
    )
    tournaments.start(tournament, now=made.NOW)
    return tournament


def play_out(tournament: Tournament, *, most: int = 60) -> None:
    """Play what is open until nothing is; the entry with the smaller number wins."""
    for _ in range(most):
        match = tournament.matches.filter(status="queued").order_by("id").first()
        if match is None:
            break
        made.play(match, winner=_better(match))
        progress.advance(tournament, now=made.later(5))
    tournament.refresh_from_db()
    assert tournament.status == "finished"


def _better(match: Match) -> int:
    versions = list(match.parties.order_by("number").values_list("version_id", flat=True))
    return versions.index(min(versions))


def shape(tournament: Tournament) -> list[list[int]]:
    return [[len(column.boxes) for column in part.columns] for part in brackets(tournament)]


def text(client, tournament: Tournament) -> str:
    page = Page(client.get(f"/t/{tournament.slug}/").content.decode())
    assert faults(page) == []
    return page.text


@pytest.mark.slow
def test_a_single_elimination_has_columns_from_the_first_round_on(league, field, reader) -> None:
    tournament = cup(league, field, "single_elimination")
    assert shape(tournament) == [[4, 2, 1]]
    assert "por decidir" in text(reader, tournament)
    play_out(tournament)
    assert shape(tournament) == [[4, 2, 1, 1]]
    [part] = brackets(tournament)
    final = part.columns[2].boxes[0]
    assert [side.entry.version.bot.slug for side in final.sides if side.won] == ["rufo"]
    assert all(side.entry for box in part.columns[1].boxes for side in box.sides)
    assert sum(box.decided_by == "exento" or box.decided_by == "bye" for box in part.columns[0].boxes) == 3
    page = text(reader, tournament)
    assert "Semifinales" in page
    assert "exento" in page


def test_points_stand_beside_who_has_won_them(league, field) -> None:
    """Whoever has the smaller number: results name that one first, a bracket the one from above."""
    tournament = cup(league, field[:4], "single_elimination")
    for _ in range(2):
        for match in tournament.matches.filter(status="queued").order_by("id"):
            made.play(match, winner=0 if _better(match) else 1)
        progress.advance(tournament, now=made.later(5))
    boxes = [box for part in brackets(tournament) for column in part.columns for box in column.boxes]
    sides = [side for box in boxes for side in box.sides if side.points is not None]
    numbers = [tuple(side.entry.number for side in box.sides) for box in boxes if all(side.entry for side in box.sides)]
    assert any(first > second for first, second in numbers)
    assert len(sides) == 8
    assert all((side.points == 2.0) == side.won for side in sides)


@pytest.mark.slow
def test_a_double_elimination_shows_both_brackets_and_the_final(league, field, reader) -> None:
    tournament = cup(league, field, "double_elimination")
    assert shape(tournament) == [[4, 2, 1], [2, 2, 1, 1], [1]]
    play_out(tournament)
    parts = brackets(tournament)
    [side] = [side for side in parts[2].columns[0].boxes[0].sides if side.won]
    assert side.entry.place == 1
    losers = {s.entry.number for c in parts[1].columns for b in c.boxes for s in b.sides if s.entry}
    assert losers == {entry.number for entry in tournament.entries.all()} - {side.entry.number}
    assert "Cuadro de perdedores" in text(reader, tournament)


def test_a_match_played_again_is_the_one_that_opens(league, field) -> None:
    tournament = cup(league, field, "single_elimination")
    first = tournament.matches.order_by("id").first()
    opened = {name for part in brackets(tournament) for c in part.columns for b in c.boxes for name in b.matches}
    assert first.public_id in opened


@pytest.mark.slow
def test_entries_at_hand_are_not_read_again(league, field) -> None:
    tournament = cup(league, field, "single_elimination")
    play_out(tournament)
    entries = {entry.number: entry for entry in tournament.entries.select_related("version__bot")}
    expected = brackets(tournament)
    with CaptureQueriesContext(connection) as alone:
        assert brackets(tournament) == expected
    with CaptureQueriesContext(connection) as with_entries:
        assert brackets(tournament, entries) == expected
    assert len(with_entries) == len(alone) - 1


@pytest.mark.slow
def test_a_bracket_that_cannot_go_on_says_so_until_the_match_is_played_again(league, field, reader) -> None:
    tournament = cup(league, field, "single_elimination")
    first = tournament.matches.order_by("id").first()
    matches.void(first, actor="operator", why="a broken rules file", now=made.NOW)
    assert f"La partida {first.public_id} se anuló" in text(reader, tournament)

    again, _ = matches.play_again(first, actor="operator", why="mended", now=made.NOW)
    assert f"La partida {first.public_id} no se pudo jugar. La sustituye la {again.public_id}" in text(
        reader, tournament
    )

    made.play(again, winner=0)
    assert first.public_id not in text(reader, tournament).partition("Clasificación")[0]


@pytest.mark.slow
def test_swiss_standings_show_their_tie_breaks(league, field, reader) -> None:
    tournament = cup(league, field, "swiss", rounds=2)
    play_out(tournament)
    page = text(reader, tournament)
    assert "PP, BH-1, BH, S-B, PM." in page
    assert "Ronda 2" in page


@pytest.mark.parametrize("form", mostly_slow(FORMATS, "swiss".__eq__))
def test_every_format_has_a_page_that_explains_it(league, field, reader, form) -> None:
    tournament = cup(league, field, form, **({"budget": 4} if form == "ladder" else {}))
    assert "cómo funciona" in text(reader, tournament)


@pytest.mark.slow
def test_every_tie_break_of_every_format_has_a_name(league, field) -> None:
    for form in ("swiss", "ladder", "successive_halving", "gauntlet"):
        tournament = cup(league, field, form, **({"budget": 2} if form == "ladder" else {}))
        match = tournament.matches.order_by("id").first()
        made.play(match, winner=0)
        rows = tournaments_rows(tournament)
        assert all(column.key in tiebreaks.NAMES for column in tiebreaks.columns(rows)), form


def tournaments_rows(tournament: Tournament):
    from league.domain.tournaments.standings import standings

    return standings(tournament).rows


@pytest.mark.slow
def test_a_running_ladder_takes_entries_and_its_owner_ends_it(league, field, owner, stranger) -> None:
    tournament = cup(league, field[:3], "ladder")
    corrections.set_share(tournament, 9, actor="ana")
    vega = field[3]
    stranger.post(f"/t/{tournament.slug}/do/", {"action": "enter", "version": vega.pk})
    assert tournament.entries.filter(version=vega).exists()
    assert stranger.post(f"/t/{tournament.slug}/do/", {"action": "close"}).status_code == 403
    owner.post(f"/t/{tournament.slug}/do/", {"action": "close"})
    tournament.refresh_from_db()
    assert (tournament.status, tournament.ending) == ("finished", "closed")
    assert "Resultado: terminado por su organizador." in text(owner, tournament)


@pytest.fixture
def soloists(league):
    """Eight bots that play every game."""
    return rows.once(make_soloists, league)


def make_soloists(league):
    return [made.accepted(league.berto, f"solo-{i}", games=()) for i in range(8)]


@pytest.mark.slow
def test_a_knockout_by_tables_shows_rounds_and_who_went_out(league, soloists, owner, reader) -> None:
    tournament = tournaments.create(
        league.ana, "Solos", "individual", boards=1, versions=soloists, players=3, format="single_elimination",
        seeding=Seeding.ENTRY, secret=made.SECRET, now=made.NOW,
    )  # fmt: skip
    tournaments.start(tournament, now=made.NOW)
    play_out(tournament)
    page = text(reader, tournament)
    assert "Rda, Fin." in page
    assert "Ronda 3" in page
    assert "Cuadro" not in page
    table = tournaments_rows(tournament)
    assert table[0].entry.number == 0
    assert [row.breaks["round"] for row in table] == sorted((row.breaks["round"] for row in table), reverse=True)
    from league.domain.tournaments import brackets as rounds

    line = rounds.read_rounds(tournament, tournament.rounds.order_by("number"))
    gone: set[int] = set()
    for step in line:
        seated = {entry for match in step.matches for entry in match.entries}
        assert not gone & (seated | set(step.resting)), "who has gone out neither plays nor rests"
        gone = set(range(8)) - seated - set(step.resting)
    assert line[-1].resting == []


def test_the_form_offers_what_the_table_can_play(league, owner) -> None:
    page = owner.get("/t/new/?game=individual&players=3").content.decode()
    assert 'value="single_elimination"' in page
    assert 'name="single_elimination__advance"' in page
    assert 'value="double_elimination"' not in page
    assert 'value="duel"' not in page


@pytest.mark.slow
def test_mixed_pairs_in_every_format_that_takes_them(league, field, reader) -> None:
    for form, more in (("swiss", {"rounds": 2}), ("successive_halving", {}), ("ladder", {"budget": 2})):
        tournament = tournaments.create(
            league.ana, f"Mixed {form}", "partnership", boards=1, versions=field, format=form, parameters=more, mixed=True,
            secret=made.SECRET, now=made.NOW,
        )  # fmt: skip
        tournaments.start(tournament, now=made.NOW)
        for _ in range(80):
            match = tournament.matches.filter(status="queued").order_by("id").first()
            if match is None:
                break
            made.play(match)
            progress.advance(tournament, now=made.later(5))
        tournament.refresh_from_db()
        assert tournament.status == "finished", form
        assert "cómo funciona" in text(reader, tournament)
        low, high = tournaments.count_planned(tournament)
        assert low <= tournament.matches.count() <= high


def test_a_running_tournament_says_until_when_bots_may_enter(league, owner, stranger) -> None:
    cup = tournaments.create(
        league.ana,
        "Tardía",
        "partnership",
        boards=1,
        versions=[league.rufo, league.sol],
        format="swiss",
        parameters={"rounds": 3, "late": 2},
        now=made.NOW,
    )
    tournaments.start(cup, now=made.NOW)
    page = stranger.get(f"/t/{cup.slug}/", headers={"accept-language": "en"}).content.decode()
    assert "until round 2 is drawn" in page
    assert "plays from round 2 on" in page
    assert "End with the current standings" not in owner.get(f"/t/{cup.slug}/").content.decode()
    stranger.post(f"/t/{cup.slug}/do/", {"action": "enter", "version": league.luna.pk})
    page = stranger.get(f"/t/{cup.slug}/", headers={"accept-language": "en"}).content.decode()
    assert "from round 2 on" in page
    assert cup.entries.get(version=league.luna).since == 2
