"""Forms of the site: sign up, enter a bot, start a tournament, create a key, choose language and colours."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.test import Client

from league.domain.core import clock, transitions
from league.domain.tournaments import progress
from league.models import ApiToken, Bot, BotVersion, Match, Player, Tournament
from league.web.common.once import once
from tests.league.web.page import Page
from tests.support import league as made


def upload(client: Client, data: bytes, filename: str = "bot.py", **fields: object):
    return client.post("/submit/", {"file": SimpleUploadedFile(filename, data), "bot": "nuevo", **fields})


def test_a_stranger_signs_up_and_can_enter_a_bot(db, reader) -> None:
    answer = reader.post("/accounts/signup/", {"name": "dora", "password": "tres reyes magos"})
    assert (answer.status_code, answer.url) == (302, "/accounts/welcome/")
    answer = upload(reader, made.source())
    assert (answer.status_code, answer.url) == (302, "/bots/nuevo/v1/")
    assert Bot.objects.get(slug="nuevo").owner == Player.objects.get(name="dora")


def test_a_sign_up_sent_twice_signs_up_once_and_logs_in(db, reader) -> None:
    """The browser shows the answer to the second of two requests, and may have dropped the cookies of the first."""
    fields = {"name": "dora", "password": "tres reyes magos"}
    assert reader.post("/accounts/signup/", fields).status_code == 302

    second = Client(headers={"accept-language": "es"})
    assert second.post("/accounts/signup/", fields).url == "/accounts/welcome/"
    assert second.get("/accounts/me/").status_code == 200
    assert Player.objects.filter(name="dora").count() == 1
    other = Client(headers={"accept-language": "es"})
    assert other.post("/accounts/signup/", fields | {"password": "tres reyes vagos"}).status_code == 422
    Player.objects.update(created=clock.present() - timedelta(minutes=5))
    assert other.post("/accounts/signup/", fields).status_code == 422


def test_a_tournament_sent_twice_is_one(league, owner) -> None:
    fields = {"name": "Dos veces", "boards": "2", "format": "round_robin", "bots": ["rufo"], "action": "create"}
    first, second = (owner.post("/t/new/?game=partnership", fields) for _ in range(2))

    assert (first.status_code, second.url) == (302, first.url)
    assert Tournament.objects.filter(name="Dos veces").count() == 1


def test_two_equal_forms_at_the_same_time_create_one_thing(rf, league) -> None:
    made_here: list[int] = []

    @once
    def create(request: HttpRequest) -> HttpResponse:
        made_here.append(len(made_here))
        time.sleep(0.3)
        return redirect(f"/made/{made_here[-1]}/")

    request = rf.post("/x/", {"name": "a"})
    request.user = league.ana.user
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(create, [request, request]))

    assert (made_here, {answer.url for answer in answers}) == ([0], {"/made/0/"})


def test_a_key_whose_page_never_arrived_is_revoked_by_the_next(league, owner) -> None:
    for _ in range(2):
        assert owner.post("/accounts/me/", {"label": "laptop", "scope": "submit", "days": 30}).status_code == 200

    assert league.ana.tokens.filter(label="laptop").count() == 2
    assert league.ana.tokens.filter(label="laptop", revoked=None).count() == 1
    assert owner.post("/accounts/me/", {"label": "laptop", "scope": "submit", "days": 99999}).status_code == 422
    assert league.ana.tokens.filter(label="laptop", revoked=None).count() == 1, "a refused form revokes nothing"


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"name": "Ana María", "password": "tres reyes magos"}, "por ejemplo «ana-maria»"),
        ({"name": "ana", "password": "tres reyes magos"}, "ya está cogido"),
        ({"name": "eva", "password": "corta"}, "contraseña"),
    ],
)
def test_a_refused_sign_up_says_why(league, reader, fields, refusal) -> None:
    answer = reader.post("/accounts/signup/", fields)
    assert answer.status_code == 422
    assert refusal in answer.content.decode()


def test_log_in_goes_on_where_one_was(league, reader) -> None:
    redirect = reader.get("/submit/")
    assert redirect.url == "/accounts/login/?next=/submit/"
    answer = reader.post("/accounts/login/", {"username": "ana", "password": "a long password", "next": "/submit/"})
    assert (answer.status_code, answer.url) == (302, "/submit/")
    assert reader.post("/accounts/logout/").url == "/"


ELSEWHERE = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "http://testserver/bots/",
    "welcome",
    "/\n/",
]


@pytest.mark.parametrize("after", ELSEWHERE, ids=ascii)
def test_no_form_sends_people_elsewhere(after: str, league) -> None:
    """Every form that goes on to another page goes to a path of this site; with https no full address leads back to http."""
    fine = "/%0A/" if after == "/\n/" else None
    forms = {
        "/accounts/signup/": ({"name": "eva", "password": "tres reyes magos"}, "/accounts/welcome/"),
        "/accounts/login/": ({"username": "ana", "password": "a long password"}, "/"),
        "/prefs/": ({"lang": "en"}, "/"),
    }
    for path, (fields, default) in forms.items():
        answer = Client().post(path, {**fields, "next": after}, secure=True)
        assert (answer.status_code, answer.url) == (302, fine or default), path


def test_forms_are_guarded(league) -> None:
    client = Client(enforce_csrf_checks=True, headers={"accept-language": "es"})
    answer = client.post("/accounts/login/", {"username": "ana", "password": "x"})
    assert answer.status_code == 403
    assert "El formulario ha caducado" in answer.content.decode()
    # the form of language and colours stands on pages that everybody is given alike, so it has no token; browsers say where it was sent from
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 302), ("none", 302)):
        assert client.post("/prefs/", {"lang": "en"}, headers={"sec-fetch-site": site}).status_code == status


@pytest.mark.parametrize(
    ("data", "filename", "fields", "refusal"),
    [
        (b"", "bot.py", {}, "el envío está vacío"),
        (b"PK\x03\x04 not a zip", "bot.zip", {}, "zip"),
        (b"print(1)", "bot.exe", {}, "no es ni un archivo de código (.py, .js, .mjs) ni un zip"),
        (b"print(1)", "bot.py", {"bot": "luna"}, "es de otro jugador"),
        (b"print(1)", "bot.py", {"bot": "???"}, "no se puede usar"),
        (b"print(1)", "bot.py", {"games": "mus"}, "mus"),
        (b"print(1)", "bot.py", {"bot": ""}, "no dice cómo se llama tu bot"),
    ],
)
def test_a_refused_upload_says_why_in_place(league, owner, data, filename, fields, refusal) -> None:
    before = BotVersion.objects.count()
    answer = upload(owner, data, filename, **fields)
    assert answer.status_code == 422
    assert refusal in answer.content.decode()
    assert 'role="alert"' in answer.content.decode()
    assert BotVersion.objects.count() == before


def test_the_page_of_an_upload_follows_it_until_it_is_decided(league, owner, reader) -> None:
    version = made.uploaded(league.ana, "espera")
    waiting = reader.get("/bots/espera/v1/").content.decode()
    assert 'data-live="bot:' in waiting
    assert "en validación" in waiting
    transitions.move(version, "rejected", now=made.NOW, fault="timeout", fault_detail="step 3: 2.0 s exceeded")
    rejected = owner.get("/bots/espera/v1/").content.decode()
    assert "data-live" not in rejected
    assert "step 3: 2.0 s exceeded" in rejected
    assert "bank_s" in rejected
    assert "step 3" not in reader.get("/bots/espera/v1/").content.decode()


def test_a_rejected_upload_says_how_to_repeat_it(league, owner, reader) -> None:
    version = made.uploaded(league.ana, "roto")
    match = Match.objects.filter(parties__version=version).first()
    made.crash(match, version)
    html = owner.get("/bots/roto/v1/").content.decode()
    assert f"tute repro {match.public_id}.jsonl --bot bot.py" in html
    assert f"/m/{match.public_id}.jsonl" in html
    assert "tute repro" not in reader.get("/bots/roto/v1/").content.decode()


def test_an_accepted_bot_is_shown_where_it_can_play(league, owner, reader) -> None:
    made.accepted(league.ana, "nuevo")
    for url in ("/bots/nuevo/v1/", "/bots/nuevo/"):
        page = Page(owner.get(url).content.decode())
        assert f"/t/{league.next_cup.slug}/" in page.links, url
        [duel] = [link for link in page.links if "format=duel" in link]
        assert "with=nuevo" in duel
        assert "Siguientes pasos" not in reader.get(url).content.decode()
    form = Page(owner.get("/t/new/?game=partnership&format=duel&with=rufo&with=luna").content.decode())
    chosen = [
        (control["name"], control["value"])
        for control in form.controls
        if "checked" in control and control["name"] in ("bots", "format")
    ]
    assert chosen == [("format", "duel"), ("bots", "luna"), ("bots", "rufo")]
    assert "2 bots" in form.text


def test_a_tournament_is_made_and_started(league, owner) -> None:
    page = owner.get("/t/new/?game=partnership").content.decode()
    assert "Todos contra todos" in page
    assert "con 10 partidas y 160 repartos" in page
    fields = {
        "name": "Copa",
        "boards": "2",
        "bots": ["rufo", "luna", "sol"],
        "action": "start",
        "option_double_at_101": "true",
    }
    answer = owner.post("/t/new/?game=partnership", fields)
    cup = Tournament.objects.get(name="Copa")
    assert (answer.status_code, answer.url) == (302, f"/t/{cup.slug}/")
    assert (cup.status, cup.matches.count(), cup.boards) == ("running", 3, 2)
    assert cup.pool.options == {"double_at_101": True}


@pytest.mark.slow
def test_every_format_is_chosen_predicted_and_shown(league, owner) -> None:
    fields = {"name": "Copa", "boards": "2", "bots": ["rufo", "luna", "sol"], "seeding": "entry"}
    chosen = {
        **fields,
        "format": "single_elimination",
        "single_elimination__cap": "4",
        "single_elimination__extra": "2",
    }
    predicted = owner.post("/t/new/?game=partnership", {**chosen, "action": "predict"})
    assert (predicted.status_code, Tournament.objects.count()) == (200, 2)
    assert "con 2 a 6 partidas y 4 a 12 repartos" in predicted.content.decode()
    typed = owner.get("/t/new/forecast/", {"game": "partnership", **chosen})
    assert typed.content.decode().startswith("3 bots: unos ")
    alone = owner.get("/t/new/forecast/", {"game": "partnership", **chosen, "bots": ["rufo"]}).content.decode()
    assert alone.startswith("Así no puede empezar: single_elimination necesita 2 inscritos o más, no 1")
    assert owner.get("/t/new/forecast/?game=chess").status_code == 404

    owner.post("/t/new/?game=partnership", {**chosen, "action": "start"})

    cup = Tournament.objects.get(name="Copa")
    assert (cup.format, cup.parameters, cup.seeding) == ("single_elimination", {"bronze": False, "cap": 4}, "entry")
    made.play(cup.matches.get(), winner=0)
    progress.advance(cup, now=made.NOW)
    page = owner.get(f"/t/{cup.slug}/").content.decode()
    assert 'class="bracket"' in page
    assert "exento" in page


@pytest.mark.slow
def test_ladders_are_ended_by_their_owner(league, owner, stranger) -> None:
    fields = {"name": "Escala", "boards": "2", "bots": ["rufo", "luna"], "format": "ladder", "action": "start"}
    owner.post("/t/new/?game=partnership", fields)
    assert stranger.post("/t/escala/do/", {"action": "close"}).status_code == 403
    owner.post("/t/escala/do/", {"action": "close"})
    assert Tournament.objects.get(slug="escala").ending == "closed"
    assert "terminado por su organizador." in owner.get("/t/escala/").content.decode()


@pytest.mark.slow
def test_mixed_pairs_are_offered_where_there_are_partners(league, owner) -> None:
    assert 'name="mixed"' in owner.get("/t/new/?game=partnership").content.decode()
    assert 'name="mixed"' not in owner.get("/t/new/?game=cabrero&players=3").content.decode()
    owner.post("/t/new/?game=partnership", {"name": "P", "boards": "1", "bots": ["rufo"], "mixed": "on"})
    assert Tournament.objects.get(name="P").pool.team == "mixed"


def test_a_refused_tournament_says_why(league, owner) -> None:
    for fields in ({"name": "", "boards": "2"}, {"name": "x", "boards": "0"}, {"name": "x", "boards": "100000"}):
        answer = owner.post("/t/new/?game=partnership", fields)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.content.decode()
    assert not Tournament.objects.filter(name="x").exists()


def test_enter_start_and_cancel(league, owner, stranger) -> None:
    url = f"/t/{league.next_cup.slug}/"
    stranger.post(f"{url}do/", {"action": "enter", "version": league.luna.pk})
    assert league.next_cup.entries.count() == 2
    assert stranger.post(f"{url}do/", {"action": "start"}).status_code == 403
    assert stranger.post(f"{url}do/", {"action": "withdraw", "version": league.rufo.pk}).status_code == 403
    owner.post(f"{url}do/", {"action": "start"})
    for action, word in (("pause", "Continuar"), ("resume", "Poner en pausa")):
        assert stranger.post(f"{url}do/", {"action": action}).status_code == 403
        owner.post(f"{url}do/", {"action": action})
        assert word in owner.get(url).content.decode()
    league.next_cup.refresh_from_db()
    assert league.next_cup.status == "running"
    owner.post(f"{url}do/", {"action": "cancel"})
    assert Tournament.objects.get(slug=league.next_cup.slug).status != "cancelled", "only after a tick"
    owner.post(f"{url}do/", {"action": "cancel", "sure": "1"})
    league.next_cup.refresh_from_db()
    assert league.next_cup.status == "cancelled"


def test_the_page_of_an_open_tournament_lets_in_and_out(league, owner, stranger, reader) -> None:
    url = f"/t/{league.next_cup.slug}/"
    assert "Inscripción abierta" in reader.get("/t/").content.decode()
    assert "Inicia sesión para inscribir un bot" in reader.get(url).content.decode()
    assert "Retirar una inscripción" not in stranger.get(url).content.decode()  # none of his is in
    stranger.post(f"{url}do/", {"action": "enter", "version": league.luna.pk})
    assert "Retirar una inscripción" in stranger.get(url).content.decode()
    assert owner.get(url).content.decode().count("luna v1</option>") == 1  # the owner may send anybody home
    stranger.post(f"{url}do/", {"action": "withdraw", "version": league.luna.pk})
    assert not league.next_cup.entries.filter(version=league.luna).exists()


@pytest.mark.slow
def test_a_running_tournament_is_extended_by_its_owner(league, owner, stranger) -> None:
    running = made.started(league.ana, [league.rufo, league.luna, league.sol], name="Long cup")
    url = f"/t/{running.slug}/"
    assert "Ampliar" in owner.get(url).content.decode()
    assert "Ampliar" not in stranger.get(url).content.decode()
    assert stranger.post(f"{url}do/", {"action": "extend", "cycles": "2"}).status_code == 403
    assert (
        "Se han añadido 3 partidas"
        in owner.post(f"{url}do/", {"action": "extend", "cycles": "2"}, follow=True).content.decode()
    )
    assert running.matches.count() == 6
    assert (
        "solo puede aumentar"
        in owner.post(f"{url}do/", {"action": "extend", "cycles": "1"}, follow=True).content.decode()
    )


def test_an_owner_is_told_of_a_pause_on_the_own_page(league, owner, stranger) -> None:
    Bot.objects.filter(slug="rufo").update(paused_for="three faults in a row", state="paused")
    assert "three faults in a row" in owner.get("/accounts/me/").content.decode()
    assert "three faults in a row" not in stranger.get("/accounts/me/").content.decode()


def test_a_password_is_changed_by_who_knows_the_old_one(league, reader) -> None:
    assert reader.get("/accounts/password/").url.startswith("/accounts/login/")
    assert reader.login(username="ana", password="a long password")
    form = {"new_password1": "another long one", "new_password2": "another long one"}
    assert "errors" in reader.post("/accounts/password/", {**form, "old_password": "wrong"}).content.decode()
    answer = reader.post("/accounts/password/", {**form, "old_password": "a long password"}, follow=True)
    assert "Contraseña cambiada" in answer.content.decode()
    assert Client().login(username="ana", password="another long one")
    assert not Client().login(username="ana", password="a long password")


def test_a_bot_is_its_owners(league, owner, stranger) -> None:
    owner.post("/bots/rufo/edit/", {"description": "Cuenta <b>triunfos</b>."})
    owner.post("/bots/rufo/edit/", {"state": "paused"})
    league.rufo.bot.refresh_from_db()
    assert (league.rufo.bot.description, league.rufo.bot.state) == ("Cuenta <b>triunfos</b>.", "paused")
    assert "&lt;b&gt;triunfos" in stranger.get("/bots/rufo/").content.decode()
    assert stranger.post("/bots/rufo/edit/", {"state": "retired"}).status_code == 403


def test_a_key_is_shown_once_and_can_be_revoked(league, owner, stranger) -> None:
    page = owner.post("/accounts/me/", {"label": "portátil"}).content.decode()
    token = ApiToken.objects.get(label="portátil")
    assert f"tute_{token.prefix}" in page
    assert page.count("Authorization: Bearer tute_") == 1
    assert "Bearer tute_" not in owner.get("/accounts/me/").content.decode()
    assert stranger.post("/accounts/me/", {"revoke": token.pk}).status_code == 404
    owner.post("/accounts/me/", {"revoke": token.pk})
    token.refresh_from_db()
    assert token.revoked is not None
    assert owner.post("/accounts/me/", {"label": ""}).status_code == 422


def test_a_key_has_a_scope_and_an_end(league, owner) -> None:
    owner.post("/accounts/me/", {"label": "ci", "scope": "submit", "days": "30"})
    owner.post("/accounts/me/", {"label": "forever", "scope": "read", "days": ""})
    ci, forever = (ApiToken.objects.get(label=label) for label in ("ci", "forever"))
    assert (ci.scope, (ci.expires - ci.created).days) == ("submit", 30)
    assert (forever.scope, forever.expires) == ("read", None)

    ApiToken.objects.filter(pk=ci.pk).update(expires=ci.created, last_used=ci.created)
    page = owner.get("/accounts/me/", headers={"Accept-Language": "en"}).content.decode()

    assert page.count(">expired</span>") == 1
    assert owner.post("/accounts/me/", {"label": "x", "scope": "all"}).status_code == 422


def test_language_and_colours_are_kept_in_cookies(db, reader) -> None:
    assert 'data-theme="auto"' in reader.get("/").content.decode()
    answer = reader.post("/prefs/", {"lang": "en", "theme": "dark", "next": "/bots/"})
    assert answer.url == "/bots/"
    page = reader.get("/bots/").content.decode()
    assert '<html lang="en" data-theme="dark">' in page
    reader.post("/prefs/", {"lang": "xx", "theme": "pink"})
    assert '<html lang="en" data-theme="dark">' in reader.get("/").content.decode()
