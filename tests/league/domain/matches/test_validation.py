"""One validation plays every game of a version; each game is accepted or refused by itself."""

import pytest

import engine
from engine.runner import FaultReport
from engine.runner.trial import CHECKS
from engine.runner.trial import TrialCheck as Checked
from league.domain.core.errors import Refused
from league.domain.matches import leases, matches, reports, validation
from league.domain.tournaments import enrolment, tournaments
from league.domain.upkeep import invariants
from league.domain.upkeep.reconcile import reconcile
from league.enums import CheckName, MatchKind, MatchStatus, VersionStatus
from league.models import BotVersion, Check, LeagueEvent, Match, Party, Pool
from tests.support.league import NOW, SECRET, accepted, later, result, running, uploaded

pytestmark = pytest.mark.django_db
GAMES = ("cabrero", "corriente", "partnership")


def tried(match: Match, faults: dict[str, Checked]) -> list[validation.TriedGame]:
    """Return a worker's report of every game, with these faulty checks."""
    trials = []
    for plan in [None, *validation.plan_rest(match)]:
        game = plan.pool.game if plan else match.pool.game
        checks = [faults[game] if game in faults and faults[game].name == name else Checked(name) for name in CHECKS]
        row = match if plan is None else shadow(plan)
        trials.append(validation.TriedGame(game, checks, plan, result(row)))
    return trials


def shadow(plan: matches.MatchPlan) -> Match:
    """A match like that of the plan, to make up a result from; it is gone afterwards."""
    row = Match.objects.create(
        public_id=matches.public_id(plan), key=f"shadow {plan.key}", kind="validation", pool=plan.pool, table=plan.table,
        secret=plan.secret, boards_planned=plan.boards, created=NOW,
    )  # fmt: skip
    Party.objects.bulk_create(Party(match=row, number=n, version=v) for n, v in enumerate(plan.versions))
    return row


def settled(version: BotVersion, faults: dict[str, Checked]) -> Match:
    """The validation of the version, played and reported."""
    match = running()
    trials = tried(match, faults)
    first = trials[0].result
    assert first is not None
    Match.objects.filter(key__startswith="shadow").delete()
    assert reports.report(match, first, trials, now=NOW) == reports.Receipt.STORED
    version.refresh_from_db()
    return match


def faulty(name: str, kind: str = "illegal_action") -> Checked:
    return Checked(name, FaultReport(0, 1, 1, 0, 4, kind, "answered 'sing x'", "asked", "said"), "sing", 7)


def test_the_league_names_the_checks_that_the_runner_makes() -> None:
    assert tuple(CheckName.values) == CHECKS


def test_a_validation_is_one_row_of_the_queue_whatever_is_declared(ana) -> None:
    version = uploaded(ana, "rufo", games=())

    match = Match.objects.get()

    assert (match.key, match.pool.game) == (f"v:{version.pk}:1", "partnership")
    games = set(Pool.objects.values_list("game", flat=True))
    assert games == set(engine.games()), "the role of the workers can make none"
    assert len(validation.plan_rest(match)) == 20


def test_every_game_gets_its_match_and_its_checks(ana) -> None:
    version = uploaded(ana, "rufo", games=GAMES)
    match = settled(version, {})

    assert (version.status, version.refused) == (VersionStatus.ACCEPTED, [])
    rows = Match.objects.filter(kind=MatchKind.VALIDATION, status=MatchStatus.FINISHED)
    assert [row.pool.game for row in rows.order_by("pk")] == ["cabrero", "corriente", "partnership"]
    assert all(row.boards.count() == 1 and row.counted is None and not row.rated for row in rows)
    checks = validation.last_checks(version)
    assert [(check.game, check.name) for check in checks] == [(game, name) for game in GAMES for name in CHECKS]
    assert {check.game: check.match.pool.game for check in checks} == {game: game for game in GAMES}
    assert leases.claim("w2", now=later(60)) is None
    assert invariants.check_all(since=None, now=later(60)) == []
    assert reports.report(match, result(match), now=NOW) == reports.Receipt.REPEATED


def test_a_game_with_a_fault_is_refused_and_the_others_are_accepted(ana, berto) -> None:
    version = uploaded(ana, "rufo", games=GAMES)
    settled(version, {"corriente": faulty(CheckName.AWKWARD)})

    assert (version.status, version.refused, version.fault) == (VersionStatus.ACCEPTED, ["corriente"], "")
    assert [version.plays(game) for game in GAMES] == [True, False, True]
    check = Check.objects.exclude(fault="").get()
    assert (check.game, check.name, check.fault, check.situation) == (
        "corriente",
        "awkward",
        "illegal_action",
        "sing",
    )
    assert (check.request, check.answer) == ("asked", "said")
    assert LeagueEvent.objects.get(kind="version.refused").data["games"] == ["corriente"]
    rival = accepted(berto, "lola")
    cup = tournaments.create(ana, "Cup", "corriente", boards=2, versions=[rival], now=NOW)
    with pytest.raises(Refused, match="not accepted for corriente"):
        enrolment.enter(cup, version, now=NOW)


def test_a_version_without_a_sound_game_is_rejected_for_its_first_fault(ana) -> None:
    version = uploaded(ana, "rufo", games=("corriente", "partnership"))
    crash = faulty(CheckName.BOARDS, "crash")
    match = settled(version, {"corriente": crash, "partnership": faulty(CheckName.LONG)})

    assert (version.status, version.fault) == (VersionStatus.REJECTED, "crash")
    assert version.fault_detail == f"answered 'sing x' (corriente, board 1, sitting 0, step 4; match {match.public_id})"


def test_the_next_attempt_has_checks_of_its_own(ana) -> None:
    version = uploaded(ana, "rufo", games=("corriente",))
    settled(version, {"corriente": faulty(CheckName.CANCELLED)})
    validation.validate_again(version, now=NOW)
    settled(version, {})

    assert version.status == VersionStatus.ACCEPTED
    assert [check.fault for check in validation.last_checks(version)] == [""] * len(CHECKS)
    assert Check.objects.count() == 2 * len(CHECKS)


@pytest.mark.slow
def test_a_validation_that_became_void_is_repeated_after_longer_and_longer_pauses(ana) -> None:
    version = uploaded(ana, "rufo")
    moments = []
    now = NOW
    for _ in range(3):
        matches.void(Match.objects.get(status="queued"), actor="operator", why="no runtime", now=now)
        while not Match.objects.filter(status="queued").exists():
            now += validation.AGAIN / 2
            reconcile(now=now)
        moments.append(now)

    assert [late - early for early, late in zip([NOW, *moments], moments, strict=False)] == [
        validation.AGAIN * factor for factor in (1, 2, 4)
    ]
    assert Match.objects.get(status="queued").key == f"v:{version.pk}:4"
    settled(version, {})
    assert version.status == VersionStatus.ACCEPTED


def test_a_validation_that_a_person_took_back_is_not_repeated(ana) -> None:
    uploaded(ana, "rufo")
    matches.cancel(Match.objects.get(), actor="ana", why="a mistake", now=NOW)

    assert reconcile(now=later(10**6)).validated == 0


def test_a_rival_is_the_simplest_house_bot_that_plays_the_game(ana) -> None:
    from league.domain.people import players

    house = players.create("house", reserved=True, now=NOW)
    for name in ("counting", "greedy", "random"):
        accepted(house, name, games=("cabrero", "partnership"))
    BotVersion.objects.filter(bot__slug="random").update(refused=["cabrero"])
    version = uploaded(ana, "rufo", games=GAMES)

    plans = list(validation.plan_games(version, 1, SECRET))[:3]

    assert [[str(opponent.bot) for opponent in plan.versions[1:]] for plan in plans] == [
        ["counting", "greedy", "counting"],
        ["rufo"],
        ["random"],
    ]


def test_the_slowest_decision_of_a_check_is_kept(ana) -> None:
    version = uploaded(ana, "rufo", games=["partnership"])
    settled(version, {"partnership": Checked(CHECKS[0], None, "", 7, max_cpu_s=0.25)})

    slowest = Check.objects.order_by("-max_cpu_s").first()
    assert slowest is not None
    assert (slowest.name, slowest.decisions, slowest.max_cpu_s) == (CHECKS[0], 7, 0.25)
