"""Learning from mistakes: what is searched for whom, what only its owner sees, and when it comes back."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from engine.analysis import decisions
from engine.judging import Child, DecisionVerdict
from engine.puzzles import find
from league.domain.core.errors import TooMany
from league.domain.jobs.handlers import mistakes as handler
from league.domain.jobs.handlers.mistakes import MistakeHandler
from league.domain.judgements import asking, bodies
from league.domain.judgements.bodies import Body
from league.domain.matches import matches, replays
from league.domain.people import quotas
from league.domain.puzzles import answers, mistakes
from league.domain.ratings import pools
from league.domain.tables import seating
from league.enums import JudgementStatus, MatchKind, TableStatus
from league.models import Job, Judgement, Match, Mistake, MistakeSearch, Player, Pool, Solver, Table
from tests.engine.test_analysis import played
from tests.support import jobs
from tests.support.league import NOW, accepted, later, play, started

HANDLER = MistakeHandler()


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few deals and shallow ones, with margins that such deals can prove."""
    monkeypatch.setattr(handler, "DEALS", 4)
    monkeypatch.setattr(handler, "Child", partial(Child, nodes=2000, margin=3))


def sat(player: Player, seat: int = 0, seed: int = 5, **columns: Any) -> Table:
    """Return a table that is over, with a record of random play at which a player sat."""
    pools.ensure_default_pools(["two_player"])
    record = played("two_player", seed)
    table = Table.objects.create(
        public_id=f"t{Table.objects.count()}", player=player, pool=Pool.objects.get(game="two_player", players=2),
        boards=1, secret=b"", created=NOW, since=NOW, finished=NOW, status=TableStatus.FINISHED,
        records=seating.packed([record]), **columns,
    )  # fmt: skip
    table.people.create(number=seat, player=player, seated=False)
    return table


def search(now: datetime = NOW) -> int:
    """Let a worker do all searches that wait; return the number of mistakes so far."""
    while (job := HANDLER.claim("host:1", now=now)) is not None:
        assert jobs.run(job, now=now)
    return Mistake.objects.count()


def test_a_mistake_is_a_choice_that_gave_the_margin_away_and_every_small_loss_is_right() -> None:
    record = played("two_player", 5)
    steps = {decision.step: decision for decision in decisions(record) if decision.state.turn == 0}
    results = list(find(record, deals=4, nodes=2000, margin=3, mistakes=steps))
    assert results
    for puzzle in results:
        text = puzzle.source["played"]
        assert (puzzle.seat, puzzle.source["step"] in steps) == (0, True)
        assert puzzle.lost[text] == puzzle.margin >= 3
        assert text not in puzzle.best
        assert set(puzzle.best) == {choice for choice, lost in puzzle.lost.items() if lost < 1.5}
    assert not list(find(record, deals=4, nodes=2000, margin=3, mistakes=[]))


def test_the_hands_of_a_table_become_puzzles_of_who_sat_there(ana: Player, berto: Player) -> None:
    sat(ana)
    assert mistakes.ask(ana, now=NOW) == 1
    assert mistakes.ask(ana, now=NOW) == 0, "a table is searched once"
    assert mistakes.ask(berto, now=NOW) == 0
    assert mistakes.waiting(ana) == 1
    count = search()
    assert 0 < count <= handler.MOST
    assert (mistakes.waiting(ana), Job.objects.count()) == (0, 0)
    rows = mistakes.due(ana, now=NOW)
    assert len(rows) == count
    own = mistakes.find(ana, rows[0].puzzle)
    assert own is not None
    assert (own.table, own.puzzle.seat) == ("t0", 0)
    assert all(event.keys().isdisjoint(("hands", "rest")) for event in own.puzzle.events), "cards of others"
    assert mistakes.find(berto, rows[0].puzzle) is None


def test_a_mistake_that_two_decisions_share_is_stored_once(ana: Player) -> None:
    sat(ana)
    mistakes.ask(ana, now=NOW)
    record = played("two_player", 5)
    steps = [decision.step for decision in decisions(record) if decision.state.turn == 0]
    puzzle = next(find(record, deals=4, nodes=2000, margin=3, mistakes=steps))
    for _search in range(2):
        mistakes.store(MistakeSearch.objects.get(), [puzzle, puzzle], now=NOW)
        assert Mistake.objects.get().puzzle == puzzle.id


def test_deals_that_others_may_still_play_are_not_searched(ana: Player) -> None:
    sat(ana, deals="t0", deals_until=later(3600))
    assert mistakes.ask(ana, now=NOW) == 0
    assert mistakes.ask(ana, now=later(3601)) == 1


def test_what_may_not_be_searched_takes_no_place_of_what_may(ana: Player, berto: Player, monkeypatch) -> None:
    monkeypatch.setattr(mistakes, "AT_ONCE", 1)
    sat(ana, seed=5)
    sat(ana, seed=6, deals="t1", deals_until=later(3600))
    sat(ana, seed=7).people.update(away=True)
    versions = [accepted(who, name, games=["two_player"]) for who, name in ((ana, "rufo"), (berto, "lola"))]
    cups = [started(ana, versions, game="two_player", boards=1, name=name) for name in ("One", "Two", "Three", "Four")]
    for cup in cups:
        asking.ask(play(cup.matches.get()), "fair", ana, now=NOW)
    Judgement.objects.update(status=JudgementStatus.DONE, finished=NOW)
    Match.objects.filter(tournament=cups[1]).update(in_class=True)
    Match.objects.filter(tournament=cups[2]).update(kind=MatchKind.ASSIGNMENT)
    type(cups[3]).objects.filter(pk=cups[3].pk).update(opens=NOW)
    assert mistakes.ask(ana, now=NOW) == 2
    searched = MistakeSearch.objects.values_list("table__public_id", "judgement__match__tournament")
    assert set(searched) == {("t0", None), (None, cups[0].pk)}


def test_what_waits_is_bounded_by_the_quota(ana: Player, settings) -> None:
    quotas.set_quota(ana, quotas.JUDGEMENTS, 1, why="a test", actor="eva", now=NOW)
    sat(ana, seed=5)
    sat(ana, seed=6)
    assert mistakes.ask(ana, now=NOW) == 1
    with pytest.raises(TooMany):
        mistakes.ask(ana, now=later(1))
    assert mistakes.ask(ana, now=later(90_000)) == 1


def test_judged_decisions_of_an_own_bot_become_puzzles_until_the_match_is_void(ana: Player, berto: Player) -> None:
    versions = [accepted(who, name, games=["two_player"]) for who, name in ((ana, "rufo"), (berto, "lola"))]
    match = play(started(ana, versions, game="two_player", boards=1).matches.get())
    row, _new = asking.ask(match, "fair", ana, now=NOW)
    body = Body("points", 1)
    for board in match.boards.all():
        for sitting in board.sittings.all():
            sitting.board.match = match
            record = replays.unpack(sitting)
            body.sittings[board.number, sitting.number] = [
                DecisionVerdict(decision.step, 0, 0, 1, decision.state.turn, "lead", "", None, 20.0, (), 0.0, 0.0)
                for decision in decisions(record)
            ]
    columns = {"status": JudgementStatus.DONE, "finished": NOW, "body": bodies.pack(body)}
    Judgement.objects.filter(pk=row.pk).update(**columns, by_volunteer=True)
    Job.objects.all().delete()

    assert mistakes.ask(ana, now=NOW) == 1
    assert asking.ask_for_league(match, "fair", now=NOW)
    assert search() == 0
    assert MistakeSearch.objects.get().finished is None, "it waits for the worker that repeats the analysis"
    Judgement.objects.filter(pk=row.pk).update(**columns)
    assert search() > 0
    own = mistakes.find(ana, mistakes.due(ana, now=NOW)[0].puzzle)
    assert own is not None
    at = own.puzzle.source
    party = match.boards.get(number=at["board"]).sittings.get(number=at["sitting"]).seating[own.puzzle.seat]
    assert match.parties.get(number=party).version.bot.owner == ana
    matches.void(match, why="odd", actor="eva", now=NOW)
    assert mistakes.due(ana, now=NOW) == []
    assert mistakes.find(ana, own.row.puzzle) is None


def test_a_mistake_comes_back_after_growing_pauses_and_the_next_day_after_a_wrong_answer(ana: Player) -> None:
    sat(ana)
    mistakes.ask(ana, now=NOW)
    search()
    name = mistakes.due(ana, now=NOW)[0].puzzle
    today = NOW.date()
    at = NOW
    for text, pause in (
        ("wrong", 1),
        ("right", 3),
        ("wrong", 1),
        ("right", 3),
        ("right", 7),
        ("right", 21),
        ("right", 0),
    ):
        own = mistakes.find(ana, name)
        assert own is not None
        choice = own.puzzle.best[0] if text == "right" else own.played
        verdict = mistakes.answer(own, choice, now=at)
        assert (verdict.solved, verdict.counts) == (text == "right", True)
        assert verdict.due == (at.date() + timedelta(days=pause) if pause else None)
        again = mistakes.answer(own, choice, now=at)
        assert (again.counts, again.due) == (False, verdict.due), "a second answer on the same day"
        at += timedelta(days=pause)
    assert mistakes.counts(ana) == (Mistake.objects.count(), 1)
    assert (Solver.objects.get().answers, answers.standing(ana, now=NOW).rating) == (0, 1500), "no rating"
    assert Solver.objects.get().day > today


def test_a_search_that_is_killed_is_done_again_and_then_given_up(ana: Player) -> None:
    sat(ana)
    mistakes.ask(ana, now=NOW)
    for number in range(2):
        assert HANDLER.claim("host:1", now=later(2000 * number)) is not None
        assert HANDLER.expire(now=later(2000 * number + 999)) == 1
    assert HANDLER.claim("host:1", now=later(5000)) is None
    assert MistakeSearch.objects.get().finished is not None
    assert not Mistake.objects.exists()


def test_a_search_that_yields_goes_on_where_it_stopped(ana: Player, monkeypatch) -> None:
    sat(ana)
    records = [played("two_player", seed) for seed in (5, 6)]
    Table.objects.update(records=seating.packed(records))
    mistakes.ask(ana, now=NOW)
    searched: list[tuple[int, ...]] = []

    class Counting(Child):
        def find(self, replay, *, stop, mistakes):
            result = super().find(replay, stop=stop, mistakes=mistakes)
            searched.append((replay["meta"]["board"], *mistakes))
            return result

    monkeypatch.setattr(handler, "Child", partial(Counting, nodes=2000, margin=3))
    for number in range(1, 99):
        job = HANDLER.claim("host:1", now=later(number))
        assert job is not None
        if jobs.run(job, stop=lambda: len(searched) >= number, now=later(number)):  # noqa: B023
            break
        assert len(searched) == number
    assert len(set(searched)) == len(searched) > 1, "each deal once"
    results = []
    for record in records:
        steps = [decision.step for decision in decisions(record) if decision.state.turn == 0]
        results += find(record, deals=4, nodes=2000, margin=3, mistakes=steps)
    best = sorted(results, key=lambda puzzle: -puzzle.margin)[: handler.MOST]
    assert set(Mistake.objects.values_list("puzzle", flat=True)) == {puzzle.id for puzzle in best}
    assert MistakeSearch.objects.get().judged == {}
