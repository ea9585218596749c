"""Every action of the operators: who may do it on each way, a try that changes nothing, and a deed that does what the try said."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client, override_settings

from league.api import urls as api
from league.domain.audits import cases, sampling
from league.domain.bots import bots
from league.domain.core import clock
from league.domain.core.errors import Forbidden, Refused
from league.domain.matches import embargoes, leases, replays, reports
from league.domain.operators import acting
from league.domain.operators.actions import ACTIONS
from league.domain.people import bans, players, quotas, rights, tokens
from league.domain.ratings import ratings
from league.domain.talk import comments
from league.domain.tournaments import enrolment, events, progress, tournaments
from league.domain.upkeep import reconcile
from league.enums import Right
from league.models import Audit, Bot, Comment, LeagueEvent, Match, Player, Report, Sitting, Tournament
from league.web import urls as web
from tests.support import league as made
from tests.support.parts import mostly_slow
from tests.support.rows import once

WHY = "what the test is about"
BY = {"why": WHY, "actor": "operator"}


@dataclass
class League:
    """Ana's rufo has met Berto's luna twice in the cup, which is over; the second cup runs. Olga is of the staff, without a right."""

    ana: Player
    olga: Player
    cup: Tournament
    next_cup: Tournament
    match: Match
    rufo: Bot


@pytest.fixture
def league(ana, berto) -> League:
    """That league."""
    return once(make_league, ana, berto)


def make_league(ana: Player, berto: Player) -> League:
    rufo, luna = made.accepted(ana, "rufo"), made.accepted(berto, "luna")
    cup = made.started(berto, [rufo, luna])
    match = made.play(cup.matches.get())
    progress.advance(cup, now=made.NOW)
    ratings.refresh(cup.pool, now=made.NOW)
    next_cup = made.started(berto, [rufo, luna], name="Next")
    olga = players.create("olga", staff=True, now=made.NOW)
    cup.refresh_from_db()
    return League(ana, olga, cup, next_cup, match, rufo.bot)


def until() -> str:
    """A time in the future."""
    return f"{clock.present() + timedelta(days=3):%Y-%m-%dT%H:%MZ}"


# Action -> its kind of subject and its values
PLANS: dict[str, tuple[str, dict[str, str]]] = {
    "void": ("match:{match}", {}),
    "rerun": ("match:{match}", {}),
    "cancel": ("tournament:next", {}),
    "pause": ("bot:rufo", {}),
    "resume": ("bot:rufo", {}),
    "ban": ("player:ana", {"until": "soon"}),
    "unban": ("player:ana", {}),
    "quota": ("player:ana", {"limit": "bots", "value": "50"}),
    "embargo": ("tournament:cup", {"until": "soon"}),
    "lift_embargo": ("tournament:cup", {}),
    "conclude": ("audit:{audit}", {"conclusion": "honest"}),
    "reopen": ("audit:{audit}", {}),
    "retry": ("match:{next}", {}),
    "hide": ("comment:{comment}", {}),
    "show": ("comment:{comment}", {}),
    "leave": ("comment:{comment}", {}),
}


def plan(league: League, name: str) -> tuple[str, dict[str, str]]:
    """Subject and values of an action, what it takes back done before."""
    subject, fields = PLANS[name]
    if name == "resume":
        bots.stop(league.rufo, **BY)
    elif name == "unban":
        bans.ban(league.ana, **BY)
    elif name == "lift_embargo":
        embargoes.change(league.cup, clock.present().replace(second=0, microsecond=0) + timedelta(days=1), **BY)
    elif name in ("conclude", "reopen"):
        with override_settings(AUDIT_PERCENT=100):
            sampling.draw(now=made.NOW)
        Audit.objects.update(verdict="differs", first={}, finished=made.NOW)
    elif name == "retry":
        league.next_cup.matches.update(not_before=clock.present() + timedelta(hours=1))
    elif "comment" in subject:
        comment = Comment.objects.create(author=league.ana, tournament=league.cup, text="rude", created=made.NOW)
        Report.objects.create(comment=comment, reporter=league.olga, reason="insult", text="rude", created=made.NOW)
        if name == "show":
            comments.hide(comment, **BY, now=made.NOW)
        subject = f"comment:{comment.pk}"
    audit = Audit.objects.select_related("work").first()
    if name == "reopen" and audit is not None:
        cases.close(audit, conclusion="honest", **BY)
    names = {"match": league.match.public_id, "next": league.next_cup.matches.get().public_id}
    return subject.format(**names, audit=audit.work.public_id if audit else ""), {
        key: until() if value == "soon" else value for key, value in fields.items()
    }


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table, without sessions and the times of the last use."""
    by_model = {}
    for model in apps.get_models():
        if model._meta.label in ("sessions.Session", "league.SessionOwner", "league.IdempotencyKey"):
            continue
        values = list(model._base_manager.order_by("pk").values())
        by_model[model._meta.label] = [
            {name: value for name, value in row.items() if name not in ("last_used", "last_login")} for row in values
        ]
    return by_model


# Columns about an act: undoing it is an act with an own actor, reason and time.
OF_THE_ACT = {"why", "closed_by", "closed", "stopped", "stopped_for", "banned", "banned_for"}
OF_THE_ACT |= {"hidden", "hidden_for", "hidden_by", "decided", "decided_by"}


def state_of(by_model: dict[str, list[dict[str, Any]]], before: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return the rows that are older than an act and its undoing, but neither who acted, why and when, nor the notices of it."""
    ids = {label: {row.get("id") for row in listed} for label, listed in before.items()}
    return {
        label: [
            {name: bool(value) if name in OF_THE_ACT else value for name, value in row.items()}
            for row in listed
            if row.get("id") in ids[label]
        ]
        for label, listed in by_model.items()
        if label not in ("league.LeagueEvent", "league.Change", "league.Notice")
    }


def by_page(player: Player | None, name: str, subject: str, fields: dict[str, str]) -> int:
    client = Client()
    if player is not None:
        client.force_login(player.user)
    sent = {"subjects": subject, "why": WHY, **fields}
    tried = client.post(f"/operators/{name}/", sent | {"step": "look"}).status_code
    return tried if tried != 200 else client.post(f"/operators/{name}/", sent | {"step": "do"}).status_code


def by_api(player: Player | None, name: str, subject: str, fields: dict[str, str]) -> int:
    headers = {"Authorization": f"Bearer {tokens.create(player, 'test')[1]}"} if player else {}
    body = {"action": name, "subjects": [subject], "why": WHY, "dry_run": True, **fields}
    return (
        Client()
        .post("/api/v1/operators/actions", json.dumps(body), content_type="application/json", headers=headers)
        .status_code
    )


def by_command(player: Player | None, name: str, subject: str, fields: dict[str, str]) -> str:
    action = ACTIONS[name]
    values = [fields[field.name] for field in action.fields if field.required]
    options = [f"--{field.name}={fields[field.name]}" for field in action.fields if not field.required]
    who = ["--by", player.name] if player else []
    out = io.StringIO()
    try:
        call_command(action.command, subject, *values, *options, "--why", WHY, "--dry-run", *who, stdout=out)
    except CommandError as error:
        return str(error)
    return out.getvalue()


def test_the_plans_name_every_action() -> None:
    assert set(PLANS) == set(ACTIONS)
    assert {action.right for action in ACTIONS.values()} == set(Right)


@pytest.mark.parametrize("name", mostly_slow(ACTIONS, "void".__eq__))
def test_who_may(name: str, league: League) -> None:
    """Anonymous, a player, an operator with every right but this, one with this alone; on the page, in the API, as a command."""
    subject, fields = plan(league, name)
    right = ACTIONS[name].right.value
    stranger = players.create("paco", now=made.NOW)
    others, holder = players.create("otto", staff=True), players.create("hilda", staff=True)
    rights.change(others, set(Right.values) - {right}, **BY, give=True)
    rights.change(holder, [right], **BY, give=True)
    for player in (stranger, others, holder):
        player.user = type(player.user).objects.get(pk=player.user_id)  # Django keeps the rights of a read account
        tokens.create(player, "first")
    callers = (None, stranger, others, holder)

    before = rows()
    assert [by_api(player, name, subject, fields) for player in callers] == [401, 403, 403, 200]
    refused = [by_command(player, name, subject, fields) for player in (stranger, others)]
    assert [f"needs the right '{right}'" in text for text in refused] == [True, True]
    assert by_command(holder, name, subject, fields) == by_command(None, name, subject, fields)
    assert by_command(holder, name, subject, fields).startswith(
        "nothing was changed; without --dry-run this would happen:\n  "
    )
    statuses = [by_page(player, name, subject, fields) for player in callers[:3]]
    assert statuses == [302, 403, 403]
    after = rows()
    changed = {label for label in after if after[label] != before[label]} - {"league.ApiToken", "league.LeagueEvent"}
    assert changed == set()
    assert not LeagueEvent.objects.filter(kind=acting.ACTED).exists()

    assert by_page(holder, name, subject, fields) == 302  # to the list, done
    assert LeagueEvent.objects.get(kind=acting.ACTED).actor == "hilda"
    looker = Client()
    looker.force_login(holder.user)
    page = looker.get("/operators/").content.decode()
    where = re.search(rf'href="([^"]+)">{subject}<', page)
    assert where
    assert looker.get(where[1].replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("name", mostly_slow(ACTIONS, ("void", "ban").__contains__))
def test_a_try_changes_nothing_and_says_what_is_done(name: str, league: League) -> None:
    subject, fields = plan(league, name)
    league.olga.user.is_superuser = True

    def act(*, dry_run: bool = False) -> list[str]:
        result = acting.act(name, [subject], fields, why=WHY, operator=league.olga, dry_run=dry_run)
        assert result.subjects == (subject,)
        return [str(effect) for effect in result.effects]

    before = rows()
    effects = act(dry_run=True)
    assert rows() == before
    assert effects

    assert act() == effects
    after = rows()
    assert after != before
    event = LeagueEvent.objects.get(kind=acting.ACTED)
    assert (event.subject, event.actor) == (subject, "olga")
    undo = event.data.pop("undo", None)
    assert event.data == {"action": name, "why": WHY, "effects": effects}

    assert act() == []
    assert rows() == after
    if undo is None:
        assert ACTIONS[name].lasting.startswith("Cannot be undone")
        return
    assert acting.act(undo["action"], [subject], undo["values"], why="a mistake", operator=league.olga).effects
    assert state_of(rows(), before) == state_of(before, before)


def test_a_struck_out_match_and_its_second_playing(league: League) -> None:
    result = acting.act("rerun", [league.match.public_id], {}, why=WHY, operator=None)
    league.match.refresh_from_db()
    again = league.cup.matches.get(status="queued")

    assert (league.match.status, league.match.reason) == ("void", WHY)
    assert (again.table, again.first_board) == (league.match.table, league.match.first_board)
    assert Tournament.objects.get(pk=league.cup.pk).status == "running"
    assert str(result.effects[1]) == f"to be played again: 1 ({again.public_id})"
    validation = Match.objects.filter(kind="validation")[0]
    with pytest.raises(Refused, match="revalidate"):
        acting.act("rerun", [validation.public_id], {}, why=WHY, operator=None)


def test_nobody_acts_in_their_own_matter(league: League) -> None:
    """An operator whose bot sits at the table, or meets its bots in the tournament; a superuser may."""
    judge = players.create("judge", staff=True, now=made.NOW)
    version = made.accepted(judge, "mine")
    cup = made.started(league.ana, [made.accepted(league.ana, "pinta"), made.accepted(league.olga, "nena"), version], name="Mine")  # fmt: skip
    elsewhere = cup.matches.exclude(parties__version=version)[0]
    rights.change(judge, Right.values, give=True, **BY)
    judge = Player.objects.select_related("user").get(pk=judge.pk)
    before = rows()

    for name, subject, fields in (
        ("void", elsewhere.public_id, {}),
        ("rerun", elsewhere.public_id, {}),
        ("resume", "bot:mine", {}),
        ("quota", "judge", {"limit": "bots", "value": "99"}),
        ("unban", "judge", {}),
        ("embargo", "tournament:mine", {"until": until()}),
    ):
        with pytest.raises(Forbidden, match="judge would be acting in their own matter"):
            acting.act(name, [subject], fields, why=WHY, operator=judge)
    assert rows() == before
    judge.user.is_superuser = True
    assert acting.act("void", [elsewhere.public_id], {}, why=WHY, operator=judge, dry_run=True).effects


@pytest.mark.parametrize(
    ("name", "subject", "fields", "why", "message"),
    [
        ("void", "zzz", {}, WHY, "there is no match 'zzz'"),
        ("void", "bot:rufo", {}, WHY, "'bot' cannot be used here; choose one of match"),
        ("pause", "rufo", {}, WHY, "say what 'rufo' is, such as bot:rufo / tournament:rufo"),
        ("pause", "bot:rufo", {}, "  ", "a reason of 1 to 300"),
        ("pause", "bot:rufo", {}, "x" * 301, "a reason of 1 to 300"),
        ("pause", "bot:rufo", {"until": "2026-01-01"}, WHY, "pause has no field until"),
        ("quota", "ana", {"limit": "bananas", "value": "1"}, WHY, "there is no limit 'bananas'"),
        ("quota", "ana", {"limit": "bots", "value": "-1"}, WHY, "a whole number, 0 or more, not -1"),
        ("embargo", "tournament:cup", {}, WHY, "embargo needs until"),
        ("embargo", "tournament:cup", {"until": "tomorrow"}, WHY, "'tomorrow' is not a time"),
        ("embargo", "tournament:cup", {"until": "2026-13-01T12:00Z"}, WHY, "is not a time"),
        ("embargo", "tournament:cup", {"until": "2020-01-01T12:00Z"}, WHY, "in the future"),
        ("ban", "house", {}, WHY, "the house cannot be banned"),
        ("ban", "olga", {}, WHY, "olga is an operator; take the role first"),
        ("ban", "ana", {"until": "2020-01-01T12:00Z"}, WHY, "must end in the future"),
        ("cancel", "cup", {}, WHY, "cannot become cancelled"),
        ("pause", "tournament:cup", {}, WHY, "only a running one"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(name, subject, fields, why, message, league: League) -> None:
    players.create(players.HOUSE, reserved=True)
    with pytest.raises(Refused, match=message):
        acting.act(name, [subject], fields, why=why, operator=None)


def test_what_operators_hold_back_is_not_played_whatever_its_owner_does(league: League) -> None:
    for subject in ("bot:rufo", "tournament:next"):
        acting.act("pause", [subject], {}, why=WHY, operator=None)
        bots.set_state(league.rufo, "paused", actor="ana")
        bots.set_state(league.rufo, "active", actor="ana")
        progress.pause(league.next_cup, actor="berto")
        progress.resume(league.next_cup, actor="berto")
        assert leases.claim("w1") is None
        acting.act("resume", [subject], {}, why=WHY, operator=None)
    made.uploaded(league.ana, "rufo")
    acting.act("pause", ["bot:rufo"], {}, why=WHY, operator=None)
    assert leases.claim("w1") is None  # not its validation either
    with pytest.raises(Refused, match="an operator has paused"):
        enrolment.enter(tournaments.create(league.ana, "Third", "partnership"), league.rufo)
    acting.act("resume", ["bot:rufo"], {}, why=WHY, operator=None)
    assert leases.claim("w1") is not None


def test_rights_are_given_and_taken_by_command(league: League) -> None:
    def said(*words: str) -> str:
        out = io.StringIO()
        call_command("permit", *words, stdout=out)
        return out.getvalue().strip()

    assert said("ana") == "ana: a player like any other"
    with pytest.raises(CommandError, match="ana is not an operator; grant `staff` as well"):
        said("ana", "void", "--why", WHY)
    with pytest.raises(CommandError, match="there is no right 'all'"):
        said("olga", "all", "--why", WHY)
    with pytest.raises(CommandError, match="this command cannot create a superuser"):
        said("olga", "superuser", "--why", WHY)
    with pytest.raises(CommandError, match="give a reason"):
        said("olga", "void")
    for _ in range(2):
        assert said("olga", "void", "ban", "--why", WHY) == "olga: staff, void, ban"
    user = league.olga.user
    user.is_superuser = True
    user.save()
    call_command("create_player", "nuria", "--staff", "--may", "void,quota", "--no-password", stdout=io.StringIO())
    assert said() == "olga: staff, void, ban, superuser\nnuria: staff, void, quota"
    assert said("olga", "superuser", "--take", "--why", WHY) == "olga: staff, void, ban"
    assert said("olga", "staff", "--take", "--why", WHY) == "olga: a player like any other"
    olga = Player.objects.select_related("user").get(name="olga")
    assert rights.rights_of(olga) == []
    kinds = ["operator.given", "operator.taken", "operator.taken"]
    journal = LeagueEvent.objects.filter(subject="player:olga", kind__startswith="operator.").order_by("id")
    assert list(journal.values_list("kind", flat=True)) == kinds
    assert journal[0].data == {"why": WHY, "words": ["void", "ban"]}


def test_a_limit_is_given_and_taken_back(league: League) -> None:
    acting.act("quota", ["ana"], {"limit": "bots", "value": "50"}, why=WHY, operator=None)
    assert quotas.limit(league.ana, "bots").most == 50
    acting.act("quota", ["ana"], {"limit": "bots", "value": "default"}, why=WHY, operator=None)
    assert quotas.limit(league.ana, "bots").most == 30


def test_a_banned_player_is_shut_out_and_told_why_at_the_door(league: League, settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # nothing here is about its time
    league.ana.user.set_password("a long password")
    league.ana.user.save()
    browser, other = Client(headers={"accept-language": "es"}), Client()
    assert browser.login(username="ana", password="a long password")
    other.force_login(league.olga.user)
    key = {"Authorization": f"Bearer {tokens.create(league.ana, 'laptop')[1]}"}
    door = {"username": "ana", "password": "a long password"}
    assert Client().get("/api/v1/me", headers=key).json()["rights"] == []

    end = until()
    acting.act("ban", ["ana"], {"until": end}, why="flooded the queue", operator=None)

    assert browser.get("/accounts/me/").status_code == 302
    assert other.get("/accounts/me/").status_code == 200
    assert Client().get("/api/v1/me", headers=key).status_code == 401
    refused = browser.post("/accounts/login/", door).content.decode()
    assert f"hasta el {end.replace('T', ' ').rstrip('Z')} UTC: flooded the queue" in refused
    assert "flooded" not in browser.post("/accounts/login/", door | {"password": "wrong"}).content.decode()
    assert leases.claim("w1") is not None, "a tournament that runs goes on"
    with pytest.raises(Refused, match="an operator has paused"):
        enrolment.enter(tournaments.create(league.olga, "Third", "partnership"), league.rufo)
    assert Match.objects.get(pk=league.match.pk).status == "finished"

    acting.act("ban", ["ana"], {}, why="again", operator=None)  # Banned permanently from now on
    assert "definitivamente: again" in browser.post("/accounts/login/", door).content.decode()
    acting.act("unban", ["ana"], {}, why="a mistake", operator=None)
    assert browser.get("/accounts/me/").status_code == 302  # the old session does not come back
    assert Client().get("/api/v1/me", headers=key).status_code == 401
    assert browser.login(**door)


def test_a_ban_ends_with_its_day_and_leaves_what_is_held_back_by_itself(league: League) -> None:
    acting.act("pause", ["bot:rufo"], {}, why=WHY, operator=None)
    bans.ban(league.ana, until=made.later(60), **BY, now=made.NOW)
    assert reconcile.reconcile(now=made.later(59)).unbanned == 0
    assert reconcile.reconcile(now=made.later(61)).unbanned == 1
    assert reconcile.reconcile(now=made.later(62)).unbanned == 0

    league.ana.user.refresh_from_db()
    assert league.ana.user.is_active
    assert LeagueEvent.objects.get(kind="player.unbanned").actor == bans.LEAGUE
    assert leases.claim("w1", now=made.later(63)) is None
    assert Bot.objects.get(pk=league.rufo.pk).stopped_for == WHY


def ways(league: League) -> list[str]:
    """Every address of the site and of the API that takes a match, a board, a tournament or a pool, filled with those of the league."""
    pool = league.cup.pool_id
    match = league.match.public_id
    names = {"public_id": match, "id": match, "number": 1, "sitting": 0, "slug": league.cup.slug, "key": "partnership"}
    names |= {
        "kind": "open",
        "seat": 0,
        "bot": "greedy",
        "attempt": 1,
    }  # For a judgement, a house bot's answers, a class
    paths = []
    for pattern in [*web.urlpatterns, *api.urlpatterns]:
        text = str(pattern.pattern)
        if re.search(r"matches|pools|tournaments/|boards|standings|^m/|^t/|^g/", text) and "new" not in text:
            filled = text.replace("<id:id>", str(pool))
            filled = re.sub(r"<\w+:(\w+)>", lambda part: str(names[part[1]]), filled)
            paths.append(("/api/v1/" if pattern in api.urlpatterns else "/") + filled)
    return paths


@pytest.mark.parametrize("subject", mostly_slow(["match", "tournament"], "tournament".__eq__))
def test_no_way_shows_what_is_held_back(subject: str, league: League) -> None:
    """All addresses are asked, by a stranger, by who owns a bot at the table, and by a superuser."""
    sitting = Sitting.objects.filter(board__match=league.match).first()
    played = replays.unpack(sitting)
    dealt_hands = [event["hand"] for event in played["events"] if event.get("e") == "deal" and "hand" in event]
    hands = [" ".join(hand) for hand in dealt_hands] + [json.dumps(hand, separators=(",", ":")) for hand in dealt_hands]
    secrets = [bytes(league.cup.secret).hex(), played["seed"], *hands, '"actions"', "tute-replay/1"]
    boss = players.create("boss", staff=True)
    boss.user.is_superuser = True
    boss.user.save()
    callers = [Client(), Client(), Client()]
    callers[1].force_login(league.ana.user)
    callers[2].force_login(boss.user)

    def shown(client: Client, addresses: Iterable[str]) -> set[str]:
        paths = set()
        for path in addresses:
            answer = client.get(path)
            assert answer.status_code < 500, path
            text = b"".join(answer.streaming_content) if answer.streaming else answer.content
            if any(secret.encode() in text for secret in secrets):  # pictures among them
                paths.add(path)
        return paths

    match = league.match.public_id
    everywhere = ways(league)
    before = shown(callers[0], everywhere)
    assert {f"/m/{match}/replay.json", f"/m/{match}.jsonl", f"/t/{league.cup.slug}/"} <= before
    assert {f"/api/v1/matches/{match}/boards/1/sittings/0/replay", f"/api/v1/tournaments/{league.cup.slug}"} <= before
    name = {"match": f"match:{match}", "tournament": "tournament:cup"}[subject]
    end = until()
    result = acting.act("embargo", [name], {"until": end}, why=WHY, operator=None)
    assert "published before" in str(result.effects[1])

    for client in callers if subject == "match" else callers[:1]:
        assert shown(client, everywhere) == set()
    page = callers[0].get(f"/m/{match}/", headers={"accept-language": "en"})
    assert f"hidden until {end.replace('T', ' ').rstrip('Z')} UTC" in page.content.decode()
    assert callers[0].get(f"/m/{match}.txt").status_code == 409
    assert callers[0].get(f"/m/{match}.jsonl").status_code == 404
    assert callers[0].get(f"/m/{match}/b/1/").status_code == 404
    answer = callers[0].get(f"/api/v1/matches/{match}/boards/1/sittings/0/replay")
    assert (answer.status_code, answer.json()["type"]) == (409, "/api/v1/#conflict")
    assert callers[0].get(f"/api/v1/matches/{match}/boards/1").json()["scores"]  # results are shown

    acting.act("lift_embargo", [name], {}, why=WHY, operator=None)
    assert shown(callers[0], before) == before


def test_an_embargo_ends_by_itself_and_holds_what_is_played_again(league: League) -> None:
    embargoes.change(league.match, made.later(60), **BY, now=made.NOW)
    acting.act("rerun", [league.match.public_id], {}, why=WHY, operator=None)
    again = made.play(league.cup.matches.get(status="queued"))
    for match in (again, Match.objects.select_related("tournament").get(pk=league.match.pk)):
        assert embargoes.in_force(match, now=made.later(59)) == made.later(60)
        assert embargoes.in_force(match, now=made.later(61)) is None
    cup = Tournament.objects.get(pk=league.cup.pk)
    assert embargoes.hides_secret(cup, now=made.later(59))
    assert not embargoes.hides_secret(cup, now=made.later(61))


@pytest.mark.slow
def test_the_embargo_of_an_event_goes_for_its_later_stages(league: League, berto) -> None:
    stage = {"format": "round_robin", "boards": 1}
    document = {"name": "Copa", "game": "partnership", "stages": [{**stage, "advance": 2}, stage]}
    cup = events.create(berto, document, [made.accepted(league.ana, "uno"), made.accepted(berto, "dos")], now=made.NOW)
    until_then = clock.present() + timedelta(days=1)
    embargoes.change(cup, until_then, **BY)
    while work := leases.claim("w1", now=made.NOW):
        leases.start(work, now=made.NOW)
        reports.report(work, made.result(work), now=made.NOW)
    for _ in range(3):
        reconcile.reconcile(now=made.NOW)
        for match in Match.objects.filter(tournament__event=cup, status="queued"):
            made.play(match)
    cup.refresh_from_db()
    assert cup.finished is not None
    assert [tournament.embargo for tournament in cup.tournaments.all()] == [until_then, until_then]
    assert events.published_secret(cup, is_visible=True) is None
    embargoes.change(cup, None, **BY)
    cup.refresh_from_db()
    assert events.published_secret(cup, is_visible=True) == bytes(cup.secret).hex()
    assert {tournament.secret_after for tournament in cup.tournaments.all()} == {None}
