"""The page of operators with the keys of volunteers: a key is shown once, and only who may close audits creates or ends one."""

from __future__ import annotations

import re

from django.core.management import call_command
from django.test import Client

from league.domain.people import players, rights, tokens
from league.domain.volunteers import keys
from league.models import LeagueEvent, Volunteer
from tests.support.league import NOW

PAGE = "/operators/volunteers/"


def test_keys_are_created_shown_once_and_removed(ana, berto, capsys) -> None:
    olga = players.create("olga", now=NOW)
    rights.change(olga, ["staff"], give=True, why="a test", actor="operator")
    client, new = Client(), {"player": "ana", "label": "cellar"}
    client.force_login(olga.user)
    assert client.get(PAGE).status_code == 200
    assert client.post(PAGE, new).status_code == 403, "she lacks the right"
    rights.change(olga, ["audit"], give=True, why="a test", actor="operator")
    for values in ({**new, "player": "nobody"}, {**new, "label": ""}, {}):
        assert client.post(PAGE, values).status_code == 422, values
    answer = client.post(PAGE, new).content.decode()
    (key,) = re.findall(r"<pre tabindex=\"0\">(tute_\S+)</pre>", answer)
    row = keys.of_token(tokens.authenticate(key))
    assert row.token.player == ana
    assert key not in client.get(PAGE).content.decode()
    assert LeagueEvent.objects.filter(kind="token.created").latest("id").actor == "olga"
    client.post(PAGE, new)
    assert tokens.authenticate(key) is not None, "it was used, so the second is another one"
    assert Volunteer.objects.count() == 2
    Volunteer.objects.filter(pk=row.pk).update(shut_out=NOW, evidence="<b>match x</b>")
    assert "&lt;b&gt;match x" in client.get(PAGE).content.decode()
    assert re.search(r"Volunteers</a> <span[^>]*>\(1\)", client.get("/operators/").content.decode())
    assert client.post(PAGE, {"end": "x"}).status_code == 404
    assert client.post(PAGE, {"end": str(row.pk)}).url == PAGE
    assert tokens.authenticate(key) is None
    assert not Volunteer.objects.filter(pk=row.pk).exists()

    call_command("volunteer_key", "berto", "--label", "attic")
    key = capsys.readouterr().out.strip()
    assert keys.of_token(tokens.authenticate(key)).token.label == "attic"
    call_command("volunteer_key")
    assert f"berto: {key[5:13]}… (attic): 0 repeated" in capsys.readouterr().out
    call_command("volunteer_key", "berto", "--end", key[:13])
    assert tokens.authenticate(key) is None
