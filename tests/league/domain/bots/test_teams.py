"""Teams: who may do what with a shared bot, and that nobody gains by joining, leaving or handing on."""

from __future__ import annotations

import pytest

from league.domain.bots import bots, challenges, closing, drafts, house, moves, teams
from league.domain.core.errors import Forbidden, Refused, TooMany
from league.domain.people import bans, ownership, players, quotas
from league.domain.people.ownership import BotAct
from league.domain.tournaments import enrolment, events, requests, tournaments
from league.enums import Entrance, TeamRole
from league.models import Bot, CoOwner, Match, Quota, Team, TeamMember
from tests.support import rows
from tests.support.league import NOW, accepted, later, source, started, uploaded

DAY = 24 * 3600
LATE = later(91 * DAY)


def join(team, owner, name, role):
    """Let a new player join a team."""
    player = players.create(name, now=NOW)
    teams.invite(team, name, role, player=owner, now=NOW)
    teams.accept(team, player, now=NOW)
    return player


@pytest.fixture
def ases(ana):
    """Ana's team: rufo is hers, ursula, uli and rita are its owner, uploader and reader."""
    return rows.once(make_ases, ana)


def make_ases(ana):
    team = teams.create(ana, "ases", now=NOW)
    teams.put_in(team, accepted(ana, "rufo").bot, player=ana, now=NOW)
    for name, role in (("ursula", TeamRole.OWNER), ("uli", TeamRole.UPLOADER), ("rita", TeamRole.READER)):
        join(team, ana, name, role)
    return team


def person(name):
    return players.Player.objects.get(name=name)


def rufo():
    return Bot.objects.select_related("owner").get(slug="rufo")


@pytest.mark.parametrize(
    ("name", "acts"),
    [
        ("ana", set(BotAct)),
        ("ursula", set(BotAct) - {BotAct.MOVE}),
        ("uli", {BotAct.LOOK, BotAct.CODE, BotAct.UPLOAD, BotAct.ENTER}),
        ("rita", {BotAct.LOOK, BotAct.CODE}),
        ("gone", set()),
        ("invited", set()),
        ("berto", set()),
        ("staff", {BotAct.LOOK}),
    ],
)
def test_a_role_allows_what_it_says(ana, berto, ases, name, acts) -> None:
    teams.leave(ases, join(ases, ana, "gone", TeamRole.OWNER), now=NOW)
    players.create("invited", now=NOW)
    teams.invite(ases, "invited", TeamRole.OWNER, player=ana, now=NOW)
    players.create("staff", staff=True, now=NOW)

    assert ownership.acts_of(person(name), rufo()) == acts
    assert {act for act in BotAct if Bot.objects.filter(ownership.owned(person(name), act)).exists()} == acts - (
        {BotAct.LOOK} if name == "staff" else set()
    )
    for act in acts - ({BotAct.LOOK} if name == "staff" else set()):
        assert ownership.allowed_bots(person(name), [rufo()], act) == {rufo().pk}


def test_the_deeds_of_members_ask_for_their_roles(ana, berto, ases) -> None:
    cira = players.create("cira", now=NOW)
    cup = tournaments.create(cira, "Copa", "partnership", boards=1, entrance=Entrance.ANYBODY, now=NOW)
    deeds = {
        "upload": lambda player: bots.upload(player, "rufo", source(), "bot.py", ["partnership"], now=NOW),
        "draft": lambda player: drafts.save(player, "rufo", "# text", now=NOW),
        "enter": lambda player: enrolment.enter(cup, rufo(), player=player, now=NOW),
        "withdraw": lambda player: enrolment.withdraw(cup, rufo().versions.first(), player=player, now=NOW),
        "put in": lambda player: teams.put_in(ases, rufo(), player=player, now=NOW),
        "take out": lambda player: teams.take_out(rufo(), player=player, now=NOW),
        "offer": lambda player: moves.offer(rufo(), "berto", player=player, now=NOW),
        "rename": lambda player: teams.rename(ases, "reyes", player=player, now=NOW),
        "invite": lambda player: teams.invite(ases, "berto", "reader", player=player, now=NOW),
        "dissolve": lambda player: teams.dissolve(ases, player=player, now=NOW),
    }
    able = {}
    for name in ("berto", "rita", "uli"):
        for deed, act in deeds.items():
            try:
                act(person(name))
            except Refused:
                continue
            able.setdefault(name, []).append(deed)
    assert able == {"uli": ["upload", "draft", "enter", "withdraw"]}


@pytest.mark.parametrize("how", ["leave", "remove", "dissolve", "take out"])
def test_who_leaves_counts_as_an_owner_for_a_time(ana, ases, how) -> None:
    bot, ursula = rufo(), person("ursula")
    theirs = accepted(ursula, "luna")
    acts = {
        "leave": lambda: teams.leave(ases, ursula, now=NOW),
        "remove": lambda: teams.remove(ases, "ursula", player=ana, now=NOW),
        "dissolve": lambda: teams.dissolve(ases, player=ana, now=NOW),
        "take out": lambda: teams.take_out(bot, player=ana, now=NOW),
    }

    acts[how]()

    assert ursula.pk in ownership.people_of([bot], now=later(89 * DAY))[bot.pk]
    people = ownership.people_of([bot, theirs.bot], now=NOW)
    assert not ownership.are_apart([people[bot.pk], people[theirs.bot_id]])
    assert ursula.pk not in ownership.people_of([bot], now=LATE)[bot.pk]
    assert rufo().owner == ana


def test_the_bots_of_who_leaves_go_with_them(ana, ases) -> None:
    luna = accepted(person("uli"), "luna").bot
    teams.put_in(ases, luna, player=person("uli"), now=NOW)
    teams.leave(ases, person("uli"), now=NOW)
    assert set(ases.bots.values_list("slug", flat=True)) == {"rufo"}
    assert Bot.objects.get(slug="luna").owner.name == "uli"


def test_bots_of_a_team_do_not_meet_for_ratings(berto, ases) -> None:
    theirs, other = accepted(person("rita"), "luna"), accepted(berto, "nena")
    table = started(berto, [rufo().versions.first(), theirs, other])
    rated = {
        frozenset(match.parties.values_list("version__bot__slug", flat=True)): match.rated
        for match in Match.objects.filter(tournament=table)
    }
    assert not rated[frozenset({"rufo", "luna"})]
    plans = [{"rufo", "luna"}, {"rufo", "nena"}]
    apart = [
        ownership.are_apart(list(ownership.people_of(Bot.objects.filter(slug__in=plan), now=NOW).values()))
        for plan in plans
    ]
    assert apart == [False, True]


def test_a_team_has_one_share_of_a_contest(ana, berto, ases) -> None:
    document = {"name": "Copa", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
    event = events.create(berto, document, [], wait=True, entrance=Entrance.ANYBODY, now=NOW)
    rita = person("rita")
    luna = accepted(rita, "luna").bot
    events.enter(event, rufo(), person("uli"), now=NOW)
    with pytest.raises(Refused, match="as many bots"):
        events.enter(event, luna, rita, now=NOW)
    teams.leave(ases, rita, now=NOW)
    with pytest.raises(Refused, match="as many bots"):
        events.enter(event, luna, rita, now=later(60))
    assert not requests.requests_of(ana).exists()


def test_nobody_joins_while_both_have_a_bot_in_a_contest(ana, berto, ases) -> None:
    luna = accepted(berto, "luna")
    cup = tournaments.create(
        players.create("cira", now=NOW), "Copa", "partnership", boards=1, entrance=Entrance.ANYBODY, now=NOW
    )
    enrolment.enter(cup, luna, player=berto, now=NOW)
    enrolment.enter(cup, rufo(), player=ana, now=NOW)
    teams.invite(ases, "berto", "reader", player=ana, now=NOW)
    moves.offer(rufo(), "berto", player=ana, now=NOW)
    for act in (lambda: teams.accept(ases, berto, now=NOW), lambda: moves.accept(rufo(), player=berto, now=NOW)):
        with pytest.raises(Refused, match="same tournament"):
            act()
    enrolment.withdraw(cup, luna, player=berto, now=NOW)
    teams.accept(ases, berto, now=NOW)
    moves.accept(rufo(), player=berto, now=NOW)
    assert rufo().owner == berto


def test_uploads_count_for_the_uploader_and_for_the_owner(ana, ases, settings) -> None:
    uli = person("uli")
    settings.UPLOADS_PER_HOUR = 2
    uploaded(uli, "solo")
    uploaded(uli, "rufo")
    assert [quotas.limit(player, quotas.UPLOADS, now=NOW).used for player in (uli, ana)] == [2, 2]
    assert [quotas.limit(player, quotas.VALIDATIONS, now=NOW).used for player in (uli, ana)] == [2, 1]
    with pytest.raises(TooMany, match="you have uploaded"):
        uploaded(uli, "rufo")
    with pytest.raises(TooMany, match="limit of the owner of the bot, ana"):
        uploaded(person("ursula"), "rufo")


def test_a_challenge_counts_for_who_asks(berto, ases) -> None:
    luna = accepted(berto, "luna")
    challenges.challenge(person("uli"), rufo(), [luna], "partnership", now=NOW)
    assert quotas.limit(person("uli"), quotas.CHALLENGES, now=NOW).used == 1
    with pytest.raises(Refused, match="not yours"):
        challenges.challenge(person("rita"), rufo(), [luna], "partnership", now=NOW)


def test_a_bot_is_handed_on(ana, berto, ases) -> None:
    moves.offer(rufo(), "berto", player=ana, now=NOW)
    with pytest.raises(Forbidden):
        moves.end(rufo(), player=person("ursula"), now=NOW)
    moves.accept(rufo(), player=berto, now=NOW)
    bot = rufo()
    assert (bot.owner, bot.team_id) == (berto, None)
    assert ana.pk in ownership.people_of([bot], now=NOW)[bot.pk]
    assert not ownership.may(ana, bot, BotAct.LOOK)
    with pytest.raises(Refused, match="nobody offers"):
        moves.accept(bot, player=berto, now=NOW)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda bot, to: bans.ban(bot.owner, why="x", actor="op", now=NOW), "paused"),
        (lambda bot, to: bots.stop(bot, why="x", actor="op", now=NOW), "paused"),
        (lambda bot, to: bots.set_state(bot, "retired", actor="ana", now=NOW), "retired"),
        (lambda bot, to: uploaded(bot.owner, "rufo"), "validated"),
        (lambda bot, to: Quota.objects.create(player=to, name=quotas.BOTS, value=0), "bots"),
    ],
)
def test_some_bots_stay_with_their_owner(ana, berto, change, message) -> None:
    bot = accepted(ana, "rufo").bot
    moves.offer(bot, "berto", player=ana, now=NOW)
    change(bot, berto)
    with pytest.raises(Refused, match=message):
        moves.accept(bot, player=berto, now=NOW)


def test_the_last_owner_hands_the_team_on_or_dissolves_it(ana, ases) -> None:
    teams.set_role(ases, "ursula", "reader", player=ana, now=NOW)
    for act in (
        lambda: teams.leave(ases, ana, now=NOW),
        lambda: teams.set_role(ases, "ana", "reader", player=ana, now=NOW),
        lambda: closing.close(ana, now=NOW),
    ):
        with pytest.raises(Refused, match="needs an owner"):
            act()
    teams.set_role(ases, "ursula", "owner", player=ana, now=NOW)
    closing.close(ana, now=NOW)
    assert list(teams.members(ases).values_list("player__name", flat=True)) == ["ursula", "uli", "rita"]
    assert not ases.bots.exists()


def test_a_team_ends_with_its_last_member(ana) -> None:
    team = teams.create(ana, "ases", now=NOW)
    with pytest.raises(Refused, match="looks like"):
        players.create("ases", now=NOW)
    closing.close(ana, now=NOW)
    assert not Team.objects.filter(pk=team.pk).exists()
    assert not TeamMember.objects.exists()


@pytest.mark.parametrize(("days", "is_free"), [(0, True), (2, False), (93, True)])
def test_a_name_is_held_once_people_know_it(ana, berto, days, is_free) -> None:
    team = teams.create(ana, "ases", now=NOW)
    teams.dissolve(team, player=ana, now=later(min(days, 2) * DAY))
    at = later(days * DAY + 60)
    if is_free:
        assert teams.create(berto, "ases", now=at).name == "ases"
    else:
        with pytest.raises(Refused, match="looks like"):
            teams.create(berto, "ases", now=at)


def test_teams_and_invitations_are_few(ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(teams, "MOST_TEAMS", 1)
    monkeypatch.setattr(teams, "MOST_INVITATIONS", 1)
    team = teams.create(ana, "ases", now=NOW)
    with pytest.raises(Refused, match="at most"):
        teams.create(ana, "reyes", now=NOW)
    teams.create(berto, "sotas", now=NOW)
    teams.invite(team, "berto", "reader", player=ana, now=NOW)
    with pytest.raises(Refused, match="at most"):
        teams.accept(team, berto, now=NOW)
    teams.decline(team, berto, now=NOW)
    with pytest.raises(Refused, match="declined"):
        teams.invite(team, "berto", "reader", player=ana, now=NOW)
    players.create("cira", now=NOW)
    with pytest.raises(TooMany):
        teams.invite(team, "cira", "reader", player=ana, now=NOW)
    for name in ("nobody", "house"):
        house.player(now=NOW)
        with pytest.raises(Refused, match="no player"):
            teams.invite(team, name, "reader", player=ana, now=NOW)


def test_an_old_name_stays_reserved_for_the_team(ana, berto, ases) -> None:
    teams.rename(ases, "reyes", player=ana, now=NOW)
    with pytest.raises(Refused, match="looks like"):
        teams.create(berto, "ases", now=NOW)
    teams.rename(ases, "ases", player=ana, now=later(1))
    assert Team.objects.get().name == "ases"
    with pytest.raises(TooMany):
        teams.rename(ases, "reyes", player=ana, now=later(2))
    assert not CoOwner.objects.filter(until__isnull=False).exists()


def test_two_who_choose_a_name_at_the_same_time(ana, berto, monkeypatch) -> None:
    check = players.check_name

    def check_and_be_late(name: str) -> None:
        check(name)
        monkeypatch.undo()
        teams.create(berto, name, now=NOW)

    monkeypatch.setattr(players, "check_name", check_and_be_late)
    with pytest.raises(Refused, match="is taken; choose another"):
        teams.create(ana, "ases", now=NOW)
