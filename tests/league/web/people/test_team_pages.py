"""Pages of teams and of their bots: who may read and do what, in every role."""

from __future__ import annotations

import json
from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from league.domain.bots import closing, moves, teams
from league.domain.notices import spreading
from league.domain.people import bans, ownership, players, tokens
from league.domain.tournaments import enrolment, tournaments
from league.enums import Entrance, TokenScope
from league.models import Bot, BotVersion, LeagueEvent, Player, Team
from tests.league.web.conftest import PATIENT_MS
from tests.support import rows
from tests.support.league import NOW, accepted, later, source
from tests.support.parts import mostly_slow

pytestmark = pytest.mark.django_db
ROLES = ("nobody", "stranger", "former", "banned", "invited", "reader", "uploader", "owner", "ana", "staff")
# One status for all, or those of ROLES in their order: `ana` owns rufo, `owner` the team.
PUBLIC, SIGNED_IN = 200, [302, 200, 200, 302, 200, 200, 200, 200, 200, 200]
CODE = [302, 404, 404, 302, 404, 200, 200, 200, 200, 404]
ANY_MEMBER = [302, 403, 403, 302, 403, 302, 302, 302, 302, 403]
UPLOADERS = [302, 403, 403, 302, 403, 403, 302, 302, 302, 403]
OWNERS = [302, 403, 403, 302, 403, 403, 403, 302, 302, 403]
ITS_OWNER = [302, 403, 403, 302, 403, 403, 403, 403, 302, 403]
GET = {
    "/teams/": SIGNED_IN,
    "/teams/ases/": PUBLIC,
    "/teams/none/": 404,
    "/bots/rufo/?tab=history": PUBLIC,
    "/bots/rufo/?tab=settings": PUBLIC,
    "/bots/rufo/v1/source": CODE,
    "/bots/rufo/v1/package.zip": CODE,
    "/editor/?from=rufo/1": CODE,
}
TEAM = "/teams/ases/do/"
POST = [
    (TEAM, {"action": "accept"}, [302, 403, 403, 302, 302, 302, 302, 302, 302, 403]),
    (TEAM, {"action": "show", "to": "1"}, ANY_MEMBER),
    (TEAM, {"action": "leave"}, ANY_MEMBER),
    (TEAM, {"action": "invite", "player": "stranger", "role": "reader"}, OWNERS),
    (TEAM, {"action": "role", "player": "reader", "role": "owner"}, OWNERS),
    (TEAM, {"action": "remove", "player": "reader"}, OWNERS),
    (TEAM, {"action": "rename", "to": "reyes"}, OWNERS),
    (TEAM, {"action": "dissolve"}, OWNERS),
    (TEAM, {"action": "put-in", "bot": "rufo"}, ITS_OWNER),
    (TEAM, {"action": "take-out", "bot": "rufo"}, OWNERS),
    (TEAM, {"action": "else"}, [302, 403, 403, 302, 403, 403, 403, 403, 403, 403]),
    ("/bots/rufo/hand-on/", {"action": "offer", "player": "stranger"}, ITS_OWNER),
    ("/bots/sol/hand-on/", {"action": "end"}, [302, 302, 403, 302, 403, 403, 403, 403, 302, 403]),
    ("/bots/rufo/edit/", {"state": "paused"}, OWNERS),
    ("/t/copa/do/", {"action": "enter", "version": "{version}"}, UPLOADERS),
    (
        "/submit/",
        {"bot": "rufo", "file": "{file}", "games": "partnership"},
        [302, 422, 422, 302, 422, 422, 302, 302, 302, 422],
    ),
    ("/editor/draft/", {"draft": "rufo", "source": "# x"}, [401, 422, 422, 401, 422, 422, 204, 204, 204, 422]),
]
OWNERS_API = [401, 403, 403, 401, 403, 403, 403, 200, 200, 403]
API = [
    ("PATCH", "bots/rufo", {"description": "x"}, [401, 403, 403, 401, 403, 403, 403, 200, 200, 403]),
    (
        "POST",
        "bots/rufo/versions?filename=a.py&games=partnership",
        None,
        [401, 403, 403, 401, 403, 403, 201, 201, 201, 403],
    ),
    ("POST", "tournaments/copa/entries", {"bot": "rufo"}, [401, 403, 403, 401, 403, 403, 201, 201, 201, 403]),
    ("GET", "teams/ases", {}, [200, 200, 200, 401, 200, 200, 200, 200, 200, 200]),
    ("GET", "teams/ases/history", {}, [401, 403, 403, 401, 403, 200, 200, 200, 200, 403]),
    ("GET", "me/teams", {}, [401, 200, 200, 401, 200, 200, 200, 200, 200, 200]),
    ("POST", "teams", {"name": "reyes"}, [401, 201, 201, 401, 201, 201, 201, 201, 201, 201]),
    ("PATCH", "teams/ases", {"name": "reyes"}, OWNERS_API),
    ("DELETE", "teams/ases", {}, [status if status != 200 else 204 for status in OWNERS_API]),
    (
        "POST",
        "teams/ases/members",
        {"player": "stranger", "role": "reader"},
        [status if status != 200 else 201 for status in OWNERS_API],
    ),
    ("PATCH", "teams/ases/members/reader", {"role": "owner"}, OWNERS_API),
    ("PATCH", "teams/ases/members/invited", {"joined": True}, [401, 403, 403, 401, 200, 403, 403, 403, 403, 403]),
    ("PATCH", "teams/ases/members/reader", {"shown": False}, [401, 403, 403, 401, 403, 200, 403, 403, 403, 403]),
    ("DELETE", "teams/ases/members/invited", {}, [401, 403, 403, 401, 204, 403, 403, 204, 204, 403]),
    ("DELETE", "teams/ases/members/reader", {}, [401, 403, 403, 401, 403, 204, 403, 204, 204, 403]),
    ("POST", "teams/ases/bots", {"bot": "rufo"}, [401, 403, 403, 401, 403, 403, 403, 403, 200, 403]),
    ("DELETE", "teams/ases/bots/rufo", {}, [status if status != 200 else 204 for status in OWNERS_API]),
    ("GET", "me/offers", {}, [401, 200, 200, 401, 200, 200, 200, 200, 200, 200]),
    ("POST", "bots/rufo/offer", {"player": "stranger"}, [401, 403, 403, 401, 403, 403, 403, 403, 201, 403]),
    ("DELETE", "bots/sol/offer", {}, [401, 204, 403, 401, 403, 403, 403, 403, 204, 403]),
    ("POST", "bots/sol/offer/accept", {}, [401, 200, 409, 401, 409, 409, 409, 409, 409, 409]),
]


@pytest.fixture
def ases(ana):
    return rows.once(make_ases, ana)


def make_ases(ana):
    """Make a team with a player in each role, a bot on offer to a stranger, and an open tournament of somebody else."""
    team = teams.create(ana, "ases", now=NOW)
    version = accepted(ana, "rufo", policy="nobody")
    teams.put_in(team, version.bot, player=ana, now=NOW)
    for name in ROLES[1:8]:
        role = name if name in ("reader", "uploader", "owner") else "owner"
        person = players.create(name, now=NOW)
        if name != "stranger":
            teams.invite(team, name, role, player=ana, now=NOW)
        if name not in ("stranger", "invited"):
            teams.accept(team, person, is_shown=name == "reader", now=NOW)
    teams.leave(team, Player.objects.get(name="former"), now=NOW)
    bans.ban(Player.objects.get(name="banned"), why="x", actor="op", now=NOW)
    players.create("staff", staff=True, now=NOW)
    moves.offer(accepted(ana, "sol").bot, "stranger", player=ana, now=NOW)
    cup_owner = players.create("cira", now=NOW)
    tournaments.create(cup_owner, "Copa", "partnership", boards=1, entrance=Entrance.ANYBODY, now=NOW)
    return team


def client_of(role: str) -> Client:
    client = Client(headers={"accept-language": "en"})
    if role != "nobody":
        client.force_login(Player.objects.get(name=role).user)
    return client


def undone(act) -> int:
    """Return the status of an answer, and undo what the request did."""
    with transaction.atomic():
        status = act().status_code
        transaction.set_rollback(True)
    return status


def clients() -> dict[str, Client]:
    return {role: client_of(role) for role in ROLES}


def test_pages_by_role(ases) -> None:
    callers = clients()
    for address, expected in GET.items():
        statuses = [caller.get(address).status_code for caller in callers.values()]
        assert statuses == (expected if isinstance(expected, list) else [expected] * len(ROLES)), address


@pytest.mark.parametrize(
    ("address", "body", "expected"),
    mostly_slow(POST, lambda case: case[1].get("action") in ("invite", "put-in", "take-out", "offer")),
)
def test_deeds_by_role(ases, address, body, expected) -> None:
    version = BotVersion.objects.get(bot__slug="rufo")
    statuses = []
    for caller in clients().values():
        sent = {
            name: SimpleUploadedFile("bot.py", source()) if value == "{file}" else value.format(version=version.pk)
            for name, value in body.items()
        }
        statuses.append(undone(partial(caller.post, address, sent)))
    assert statuses == expected
    assert Client(enforce_csrf_checks=True).post(address, {}).status_code in (401, 403)
    assert client_of("ana").get(address).status_code == (200 if address == "/submit/" else 405)


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"), mostly_slow(API, lambda case: case[0] != "GET" and "teams" in case[1])
)
def test_deeds_by_role_in_the_api(ases, method, path, body, expected) -> None:
    statuses = []
    for role in ROLES:
        headers = {}
        if role != "nobody":
            key = tokens.create(Player.objects.get(name=role), "x", scope=TokenScope.MANAGE)[1]
            headers = {"authorization": f"Bearer {key}"}
        sent, kind = (source(), "application/octet-stream") if body is None else (json.dumps(body), "application/json")
        ask = partial(Client().generic, method, f"/api/v1/{path}", sent, content_type=kind, headers=headers)
        statuses.append(undone(ask))
    assert statuses == expected


def test_the_api_names_the_team(ases) -> None:
    assert [Client().get(f"/api/v1/bots/{name}").json()["team"] for name in ("rufo", "sol")] == ["ases", None]
    [version] = Client().get("/api/v1/bots/rufo/versions").json()["results"]
    assert version["team"] == "ases"


def test_the_api_shows_members_and_history_like_the_page(ases, ana) -> None:
    closing.close(Player.objects.get(name="uploader"), now=NOW)
    key = tokens.create(ana, "x", scope=TokenScope.MANAGE)[1]
    ask = partial(Client().get, headers={"authorization": f"Bearer {key}"})
    assert [member["player"] for member in Client().get("/api/v1/teams/ases").json()["members"]] == ["reader"]
    own = ask("/api/v1/teams/ases").json()
    assert {member["player"]: member["since"] is not None for member in own["members"]} == {
        **dict.fromkeys(("ana", "reader", "owner", "banned"), True),
        "invited": False,
    }
    assert own["bots"] == ["rufo"]
    lines = ask("/api/v1/teams/ases/history").json()["results"]
    assert {"at": lines[0]["at"], "actor": None, "what": "left", "player": None, "was": None, "to": None} == lines[0]
    assert "uploader" not in {name for line in lines for name in (line["actor"], line["player"])}
    assert any((line["what"], line["player"], line["to"]) == ("invited", "reader", "reader") for line in lines)
    team = {"name": "ases"}
    for method, path, body, status in (
        ("post", "teams", team, 409),
        ("post", "teams", {"name": "a b"}, 409),
        ("post", "teams", {"name": 7, "x": 1}, 400),
        ("post", "teams/ases/members", {"player": "nobody-here", "role": "reader"}, 409),
        ("post", "teams/ases/members", {"player": "stranger", "role": "king"}, 400),
        ("patch", "teams/ases/members/ana", {}, 400),
        ("patch", "teams/ases/members/ana", {"role": "reader", "shown": True}, 400),
        ("delete", "teams/ases/members/nobody-here", {}, 409),
        ("delete", "teams/ases/bots/sol", {}, 404),
        ("post", "teams/none/bots", {"bot": "sol"}, 404),
        ("post", "bots/rufo/offer", {"player": "ana"}, 409),
    ):
        sent = json.dumps(body)
        headers = {"authorization": f"Bearer {key}"}
        answer = Client().generic(
            method.upper(), f"/api/v1/{path}", sent, content_type="application/json", headers=headers
        )
        assert answer.status_code == status, (method, path, body, answer.content)


def test_what_a_role_reads(ases) -> None:
    BotVersion.objects.filter(bot__slug="rufo").update(status="rejected", fault="crash", fault_detail="the trace")
    read = {"history": [], "settings": [], "trace": [], "members": [], "forms": []}
    for role in ROLES:
        client = client_of(role)
        pages = {
            "history": ("/bots/rufo/?tab=history", "joined the team"),
            "settings": ("/bots/rufo/?tab=settings", 'id="description"'),
            "trace": ("/bots/rufo/v1/", "the trace"),
            "members": ("/teams/ases/", ">uploader</a>"),
            "forms": ("/teams/ases/", 'value="dissolve"'),
        }
        for name, (address, text) in pages.items():
            if text in client.get(address).content.decode():
                read[name].append(role)
    members = ["reader", "uploader", "owner", "ana"]
    assert read == {
        "history": [*members, "staff"],
        "settings": ["owner", "ana"],
        "trace": [*members, "staff"],
        "members": members,
        "forms": ["owner", "ana"],
    }
    public = client_of("nobody").get("/teams/ases/").content.decode()
    assert "/players/reader/" in public  # Agreed to be shown.
    assert "/players/owner/" not in public


def test_from_the_invitation_to_the_history(ases, settings) -> None:
    invited, stranger = client_of("invited"), client_of("stranger")
    page = invited.get("/teams/").content.decode()
    assert "You are invited to the team <strong>ases</strong> as owner." in page
    assert "Requests (1)" in page
    assert invited.post(TEAM, {"action": "accept", "shown": "on"}).url == "/teams/ases/"
    enrolment.enter(
        tournaments.Tournament.objects.get(), Bot.objects.get(slug="rufo"), player=Player.objects.get(name="uploader")
    )
    history = invited.get("/bots/rufo/?tab=history").content.decode()
    assert "<strong>invited</strong> joined the team" in history
    assert '<strong>uploader</strong> entered the bot in\n  <a href="/t/copa/">Copa</a>' in history
    assert stranger.post("/bots/sol/hand-on/", {"action": "accept"}).url == "/bots/sol/"
    assert 'by\n  <a href="/players/stranger/">' in stranger.get("/bots/sol/").content.decode()
    assert "ases" in stranger.get("/search/?q=ases").content.decode()
    for name in ("/bots/rufo/", "/bots/", "/t/copa/"):
        assert '<a href="/teams/ases/">ases</a>' in stranger.get(name).content.decode(), name


def test_an_invitation_and_an_offer_are_notices(ases) -> None:
    spreading.run(now=later(60))
    notices = {name: client_of(name).get("/notices/").content.decode() for name in ("invited", "stranger", "reader")}
    assert "ana invites you to the team ases." in notices["invited"]
    assert "ana wants to hand sol on to you." in notices["stranger"]
    assert "invites you" not in notices["reader"]  # Answered in the meantime.


def test_a_history_names_nobody_who_left_the_league_and_no_private_event(ases) -> None:
    closing.close(Player.objects.get(name="uploader"), now=NOW)
    bot = Bot.objects.get(slug="rufo")
    LeagueEvent.objects.create(at=NOW, kind="bot.entered", subject="bot:rufo", actor="ana", data={"to": "event:secret"})
    page = client_of("reader").get("/bots/rufo/?tab=history").content.decode()
    assert "uploader</strong>" not in page
    assert "A former player" in page
    assert "a private tournament" in page
    assert "secret" not in page
    assert ownership.may(Player.objects.get(name="reader"), bot, ownership.BotAct.LOOK)


@pytest.mark.slow
def test_two_people_share_a_bot_and_hand_it_on(live, browser) -> None:
    """Ana makes a team on a desk, Berto joins on a phone, sees who did what, and takes the bot over."""
    url, league = live
    pages = {}
    for player, width in ((league.ana, 1280), (league.berto, 390)):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, locale="en-GB", java_script_enabled=False
        )
        session = client_of(player.name).cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        context.set_default_timeout(PATIENT_MS)
        pages[player.name] = context.new_page()
    ana, berto = pages["ana"], pages["berto"]
    ana.goto(f"{url}/teams/")
    ana.fill("#name", "ases")
    ana.click("text=Create team")
    ana.select_option("#bot", "rufo")
    ana.click("text=Put in the team")
    ana.fill("#player", "berto")
    ana.click("main button:has-text('Invite')")
    berto.goto(f"{url}/teams/")
    assert berto.evaluate("document.documentElement.scrollWidth") <= 390
    berto.click("text=Join the team")
    assert "berto" in berto.inner_text("main table >> nth=1")
    berto.goto(f"{url}/bots/rufo/?tab=history")
    assert "berto joined the team" in berto.inner_text("main")
    assert "ana put the bot in the team ases" in berto.inner_text("main")
    ana.goto(f"{url}/bots/rufo/?tab=settings")
    ana.fill("#receiver", "berto")
    ana.click("text=Offer the bot")
    berto.goto(f"{url}/teams/")
    berto.click("text=Take over the bot")
    assert "by berto · ases" in berto.inner_text("main")
    for page in pages.values():
        page.context.close()


def test_a_refused_name_is_said_at_the_field(ases) -> None:
    answer = client_of("stranger").post("/teams/", {"name": "No Good"})
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not Team.objects.exclude(name="ases").exists()
