"""Every format as rows: scheduled, advanced, crashed, extended, ended."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils.translation import override

from league.domain.bots import willing
from league.domain.core.errors import Refused
from league.domain.operators import acting
from league.domain.tournaments import enrolment, fixtures, formats, progress, standings, tournaments
from league.domain.upkeep import reconcile
from league.enums import Ending, Seeding, TournamentStatus, format_choices
from league.models import BotVersion, Match, Player, Rating, Tournament
from league.pure.formats import FORMATS
from league.service import logs
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play
from tests.support.parts import mostly_slow

SMALL = {"ladder": {"budget": 4}, "duel": {"cap": 12}, "arena": {"most": 2}}


@pytest.fixture
def field(ana, berto):
    """Five accepted versions, of two players."""
    return rows.once(make_field, ana, berto)


def make_field(ana: Player, berto: Player) -> list[BotVersion]:
    owners = (ana, berto)
    return [accepted(owners[i % 2], name) for i, name in enumerate(("rufo", "lola", "nena", "paco", "tina"))]


def cup(owner, versions, form, **parameters) -> Tournament:
    """A running tournament of two boards a match."""
    tournament = tournaments.create(
        owner,
        "Cup",
        "partnership",
        boards=2,
        versions=versions[: FORMATS[form].most or 5],
        format=form,
        parameters={**SMALL.get(form, {}), **parameters},
        seeding=Seeding.ENTRY,
        secret=SECRET,
        now=NOW,
    )
    tournaments.start(tournament, now=NOW)
    return tournament


def best_first(match: Match) -> int:
    """The party with the smallest entry number."""
    numbers = list(match.parties.order_by("number").values_list("version_id", flat=True))
    return numbers.index(min(numbers))


def run_to_end(tournament: Tournament, *, most: int = 80) -> None:
    """Play the open matches one by one; the scheduler advances after each, and puts right after every third and where none is left."""
    for number in range(most):
        match = tournament.matches.filter(status="queued").order_by("-id").first()
        if match is None:
            return
        play(match, winner=best_first(match))
        progress.advance(tournament, now=later(5))
        if number % 3 == 2 or not tournament.matches.filter(status="queued").exists():
            reconcile.reconcile(now=later(5))
        tournament.refresh_from_db()
    raise AssertionError("no end")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_played_to_its_end(ana, field, form) -> None:
    tournament = cup(ana, field, form)

    run_to_end(tournament)

    assert tournament.status == TournamentStatus.FINISHED
    places = list(tournament.entries.order_by("place", "number").values_list("number", "place"))
    assert [place for _, place in places] == sorted(place for _, place in places)
    if form != "ladder":
        assert places[0] == (0, 1)
    assert tournaments.published_secret(tournament) == SECRET.hex()
    low, high = tournaments.count_planned(tournament)
    assert low <= tournament.matches.count() <= high
    table = standings.standings(tournament)
    assert [row.entry.place for row in table.rows] == sorted(row.entry.place for row in table.rows)
    assert reconcile.reconcile(now=later(9)).inserted == 0


@pytest.mark.parametrize("form", mostly_slow(FORMATS, ("single_elimination", "ladder").__contains__))
def test_scheduling_again_adds_nothing(ana, field, form) -> None:
    tournament = cup(ana, field, form)
    keys = set(tournament.matches.values_list("key", flat=True))

    assert progress.schedule(tournament, now=NOW) == 0
    tournaments.start(tournament, now=NOW)
    assert progress.advance(tournament, now=NOW) is False

    assert set(tournament.matches.values_list("key", flat=True)) == keys


@pytest.mark.parametrize(
    "form",
    mostly_slow(
        ["swiss", "single_elimination", "double_elimination", "successive_halving"], "single_elimination".__eq__
    ),
)
def test_what_a_crash_left_out_is_made_up_for(ana, field, form) -> None:
    """The process dies between the report of the last match of a round and the next round: the scheduler goes on."""
    tournament = cup(ana, field, form)
    for match in list(tournament.matches.filter(status="queued")):
        play(match, winner=best_first(match))
    before = tournament.matches.count()

    assert reconcile.reconcile(now=later(1)).inserted > 0
    assert reconcile.reconcile(now=later(1)).inserted == 0
    assert tournament.matches.count() > before


def test_deals_are_numbered_on_and_never_played_twice(ana, field) -> None:
    tournament = cup(ana, field[:2], "round_robin", cycles=3)

    deals = list(tournament.matches.order_by("first_board").values_list("table", "first_board", "boards_planned"))
    assert deals == [("0-1", 1, 2), ("0-1", 3, 2), ("0-1", 5, 2)]
    row = tournament.matches.first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Match.objects.create(
            public_id="x",
            kind="tournament",
            pool=tournament.pool,
            tournament=tournament,
            key="other",
            table="0-1",
            first_board=row.first_board,
            secret=SECRET,
            boards_planned=2,
            created=NOW,
        )
    played = play(tournament.matches.get(first_board=3), winner=0)
    assert list(played.boards.values_list("number", flat=True)) == [3, 4]


def test_a_running_round_robin_can_be_extended(ana, field) -> None:
    tournament = cup(ana, field[:3], "round_robin")
    before = {match.key: match.public_id for match in tournament.matches.all()}

    assert tournaments.extend(tournament, {"cycles": 2}, actor="ana", now=NOW) == 3

    assert {
        key: public_id for key, public_id in tournament.matches.values_list("key", "public_id") if key in before
    } == before
    with pytest.raises(Refused, match="cycles is 2; you can raise it"):
        tournaments.extend(tournament, {"cycles": 1}, actor="ana", now=NOW)
    with pytest.raises(Refused, match="cannot change sure"):
        tournaments.extend(tournament, {"sure": 1}, actor="ana", now=NOW)


def test_seeds_follow_the_ratings(ana, field) -> None:
    tournament = tournaments.create(
        ana, "Cup", "partnership", boards=2, versions=field, format="single_elimination", secret=SECRET, now=NOW
    )
    for version, elo in ((field[3], 1200.0), (field[1], 1100.0)):
        Rating.objects.create(
            pool=tournament.pool,
            version=version,
            elo=elo,
            margin=1,
            boards=1,
            opponents=1,
            score=1,
            points_per_board=1,
            faults=0,
            rank_best=1,
            rank_worst=1,
            provisional=False,
            updated=NOW,
        )

    tournaments.start(tournament, now=NOW)

    seeds = tournament.entries.order_by("seed").values_list("version__bot__slug", flat=True)
    assert list(seeds) == ["paco", "lola", "rufo", "nena", "tina"]


@pytest.mark.slow
def test_a_ladder_takes_newcomers_and_lets_go(ana, berto, field) -> None:
    tournament = cup(ana, field[:3], "ladder", budget=0, open=2)
    assert tournament.matches.count() == 2

    entry = enrolment.enter(tournament, field[3], now=NOW)
    assert (entry.number, tournament.entries.count()) == (3, 4)
    enrolment.withdraw(tournament, field[0], now=later(1))
    enrolment.withdraw(tournament, field[0], now=later(2))
    assert tournament.entries.get(number=0).withdrawn == later(1)
    for _ in range(6):
        play(tournament.matches.filter(status="queued").first(), winner=0)
        progress.advance(tournament, now=later(3))
    late = tournament.matches.order_by("-id")[:4]
    assert not any(party.version_id == field[0].pk for match in late for party in match.parties.all())
    assert tournament.matches.filter(parties__version=field[3]).exists()
    with pytest.raises(Refused, match="it can return at"):
        enrolment.enter(tournament, field[0], now=later(4))
    next_day = 1 + willing.AWAY.total_seconds()
    assert enrolment.enter(tournament, field[0], now=later(next_day)).withdrawn is None

    progress.close(tournament, actor="ana", now=later(next_day))
    tournament.refresh_from_db()
    assert (tournament.status, tournament.ending) == (TournamentStatus.FINISHED, Ending.CLOSED)
    assert not fixtures.has_open_matches(tournament)
    with pytest.raises(Refused, match="ends by itself"):
        progress.close(cup(ana, field, "swiss"), actor="ana", now=NOW)


@pytest.mark.slow
def test_a_duel_says_what_it_found(ana, field) -> None:
    tournament = cup(ana, field, "duel", cap=200)

    run_to_end(tournament)

    assert tournament.ending == Ending.STRONGER
    assert tournament.facts["llr"] > 2.94
    assert tournament.facts["lost"] == 0


@pytest.mark.slow
def test_mixed_pairs_play_whist(ana, field) -> None:
    tournament = tournaments.create(
        ana, "Pairs", "partnership", boards=1, versions=field, mixed=True, secret=SECRET, now=NOW
    )
    tournaments.start(tournament, now=NOW)

    assert tournament.pool.team == "mixed"
    assert tournament.matches.count() == 5  # five entries, one rests in each of five rounds
    for match in list(tournament.matches.all()):
        played = play(match)
        assert played.parties.count() == 4
        board = played.boards.get()
        assert board.sittings.count() == 4
        assert board.scores[0] == board.scores[2]
        assert board.scores[1] == board.scores[3]
    assert progress.advance(tournament, now=later(1))
    table = standings.standings(tournament)
    assert all(row.result.boards == 4 for row in table.rows)
    assert sum(row.result.points for row in table.rows) == 5 * 4  # a board is four meetings, each worth a point


@pytest.mark.parametrize("seats", mostly_slow([3, 4, 5, 6], (3).__eq__))
def test_individual_seats(ana, berto, seats) -> None:
    owners = (ana, berto)
    versions = [accepted(owners[i % 2], f"bot{i}") for i in range(seats + 1)]
    tournament = tournaments.create(
        ana,
        "Cup",
        "cabrero",
        boards=1,
        versions=versions,
        players=seats,
        format="swiss",
        parameters={"rounds": 2},
        secret=SECRET,
        now=NOW,
    )
    tournaments.start(tournament, now=NOW)

    for _ in range(2):
        play(tournament.matches.get(status="queued"))
        progress.advance(tournament, now=later(1))

    tournament.refresh_from_db()
    assert tournament.status == TournamentStatus.FINISHED
    assert {match.parties.count() for match in tournament.matches.all()} == {seats}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "chess"}, "there is no format 'chess'; choose one of round_robin, swiss"),
        ({"parameters": {"rounds": 3}}, "round_robin has no parameter 'rounds'"),
        ({"parameters": {"cycles": 0}}, "cycles must be a whole number from 1 to 200, not 0"),
        ({"format": "duel", "parameters": {"elo0": 30}}, "elo0 must be below elo1"),
        ({"seeding": "luck"}, "choose a seeding from rating, entry, not 'luck'"),
        (
            {"game": "cabrero", "players": 3, "format": "double_elimination"},
            "cannot be played at tables of 3, .* swiss",
        ),
        ({"game": "cabrero", "players": 3, "mixed": True}, "no two sides of two seats"),
        (
            {"mixed": True, "format": "gauntlet"},
            "mixed pairs cannot play a gauntlet: .* swiss, successive_halving, ladder",
        ),
    ],
)
def test_create_says_what_is_allowed(ana, change, message) -> None:
    with pytest.raises(Refused, match=message):
        tournaments.create(ana, **{"name": "Cup", "game": "partnership", **change}, now=NOW)


def test_too_few_and_too_many(ana, field) -> None:
    with pytest.raises(Refused, match="cannot be started: double_elimination needs 3 entries"):
        cup(ana, field[:2], "double_elimination")
    tournament = tournaments.create(ana, "Duel", "partnership", format="duel", versions=field[:2], now=NOW)
    with pytest.raises(Refused, match="is full; it takes 2 bots"):
        enrolment.enter(tournament, field[2], now=NOW)


def test_every_format_has_its_words_in_the_language_of_the_reader() -> None:
    with override("es"):
        spanish = formats.describe_formats()
    with override("en"):
        english = formats.describe_formats()

    assert [form.key for form in english] == list(FORMATS) == [key for key, _ in format_choices()]
    for here, translated in zip(english, spanish, strict=True):
        assert (here.title, here.sentence) == (FORMATS[here.key].title, FORMATS[here.key].sentence)
        assert [text for _, text in here.parameters] == [parameter.help for parameter in FORMATS[here.key].parameters]
        assert here.sentence != translated.sentence
        assert len(here.key) <= 20  # the column of the database


@pytest.mark.slow
def test_tables_of_seats_sit_round_in_turn_and_count_by_entry(ana, field) -> None:
    """Every second match of a table is seated the other way round; whoever sits where, the boards are the entry's own."""
    for version in field:
        version.games = []
        version.save()
    tournament = tournaments.create(
        ana,
        "Cup",
        "individual",
        boards=1,
        versions=field[:4],
        players=3,
        parameters={"cycles": 2},
        secret=SECRET,
        now=NOW,
    )
    tournaments.start(tournament, now=NOW)
    number = dict(tournament.entries.values_list("version_id", "number"))
    seated: dict[str, list[list[int]]] = {}
    for match in tournament.matches.order_by("id"):
        line = [number[pk] for pk in match.parties.order_by("number").values_list("version_id", flat=True)]
        seated.setdefault(match.table, []).append(line)
        play(match, winner=best_first(match))
    assert len(seated) == 4
    for first, second in seated.values():
        assert second == [first[0], *first[:0:-1]]

    progress.advance(tournament, now=later(5))
    tournament.refresh_from_db()
    assert tournament.status == TournamentStatus.FINISHED
    table = standings.standings(tournament)
    assert table.rows[0].entry.number == 0
    assert table.cells[0, 1].wins == 4
    now = fixtures.play_format(tournament)
    Tournament.objects.update(schedule=1)  # A tournament from before neighbours were balanced has another seating rule
    tournament.refresh_from_db()
    old = fixtures.play_format(tournament)
    assert [t.entries for t in old.sheet.pairings] != [t.entries for t in now.sheet.pairings]
    assert [t.slot for t in old.sheet.pairings] == [t.slot for t in now.sheet.pairings]
    assert old.outcome.rank().levels == now.outcome.rank().levels
    assert old.outcome.rank().levels[0] == [0]


@pytest.mark.parametrize(("sure", "allowed"), [(0.0, True), (0.999, True), (1.0, False), (-0.1, False)])
def test_nothing_is_as_sure_as_certain(sure: float, allowed: bool) -> None:
    if allowed:
        assert formats.choose_parameters("round_robin", {"sure": sure}).get("sure", 0.0) == sure
    else:
        with pytest.raises(Refused):
            formats.choose_parameters("round_robin", {"sure": sure})


@pytest.mark.slow
def test_a_round_stands_though_a_match_before_it_is_played_again_with_another_end(ana, field) -> None:
    tournament = cup(ana, field, "swiss", rounds=3)
    for match in list(tournament.matches.filter(status="queued")):
        play(match, winner=best_first(match))
    progress.advance(tournament, now=NOW)
    second = set(tournament.matches.filter(round__number=2).values_list("table", "first_board"))
    struck = tournament.matches.filter(round__number=1).order_by("pk").first()
    acting.act("rerun", [struck.public_id], {}, why="a wrong deal", operator=None, now=NOW)
    reconcile.reconcile(now=later(3600))
    again = tournament.matches.get(round__number=1, status="queued")
    play(again, winner=1 - best_first(again))
    for match in list(tournament.matches.filter(status="queued")):
        play(match, winner=best_first(match))

    for _ in range(3):
        progress.advance(tournament, now=NOW)
        reconcile.reconcile(now=later(7200))

    assert set(tournament.matches.filter(round__number=2).values_list("table", "first_board")) == second
    assert tournament.matches.filter(round__number=3).count() == 2


@pytest.mark.slow
def test_later_rounds_are_asked_for_by_who_started_the_tournament(ana, field) -> None:
    """The starting request's number leads to all its matches in the log; a later request for more matches takes precedence."""
    tournament = cup(ana, field, "swiss", rounds=3)
    Tournament.objects.filter(pk=tournament.pk).update(request="the-start-of-ana")
    tournament.refresh_from_db()
    requests = []
    for number in (1, 2):
        for match in list(tournament.matches.filter(status="queued")):
            play(match, winner=best_first(match))
        with logs.about(request="of-ana-again" if number == 2 else ""):
            progress.advance(tournament, now=NOW)
        requests.append(set(tournament.matches.filter(round__number=number + 1).values_list("request", flat=True)))
    assert requests == [{"the-start-of-ana"}, {"of-ana-again"}]
