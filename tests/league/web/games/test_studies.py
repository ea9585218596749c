"""The pages of studies: started by a form, followed while they grow, stopped by whoever started them."""

from __future__ import annotations

import pytest
from django.test import Client

from league.domain.studies import parts
from league.models import Study
from tests.league.domain.studies.test_studies import house_bots, play_all  # noqa: F401 - a fixture
from tests.league.web.bots.test_downloads import client_of

pytestmark = pytest.mark.django_db
NEW = "/g/brisca/study/"
START = {"players": "2", "option_exchange": "none", "boards": "64", "better": "counting"}


@pytest.mark.usefixtures("house_bots")
def test_a_person_starts_follows_and_stops_a_study(ana, berto) -> None:
    own, other, nobody = client_of(ana), client_of(berto), Client()
    assert NEW in nobody.get("/g/brisca/?tab=lab").content.decode()
    for answer in (nobody.get(NEW), nobody.post(NEW, START)):
        assert (answer.status_code, answer["Location"].startswith("/accounts/login/")) == (302, True)
    for wrong in ({"boards": "9"}, {"boards": "many"}, {"better": "champion"}, {"option_exchange": "x"}):
        assert own.post(NEW, START | wrong).status_code == 422, wrong
    assert own.post(NEW, START | {"do": "refresh"}).status_code == 200
    form = own.get(NEW)
    (changed,) = form.context["options"].initial.items()
    assert f'<option value="{changed[1]}" selected>' in form.content.decode(), "it begins with a change"
    assert f"<strong>{form.context['change']}</strong>" in form.content.decode()
    same = own.post(NEW, START | {"option_exchange": ""})
    assert (same.status_code, "nothing differs from the usual rules" in same.content.decode()) == (422, True)
    assert own.get("/g/chess/study/").status_code == 404
    assert not Study.objects.exists()

    place = own.post(NEW, START)["Location"]
    row = Study.objects.get(options={"exchange": "none"})
    assert place == f"/lab/{row.key}/"
    assert other.post(NEW, START)["Location"] == place, "the same rules are the same study"
    assert own.post("/g/guinote/study/", START | {"option_exchange_trigger": "own_turn"}).status_code == 429
    page = nobody.get(place).content.decode()
    assert ("0 of 64 boards" in page, "Stop study" in page) == (True, False)
    assert "The first numbers appear" in page
    play_all()
    page = own.get(place).content.decode()
    assert page.count('class="interval"') > 5
    assert ("64 of 64 boards" in page, "Play up to 1000 boards" in page) == (True, True)
    assert "exchange = &quot;none&quot;" in page
    assert place in nobody.get("/g/brisca/?tab=lab").content.decode()

    assert other.post(place, {"action": "more", "boards": "128"})["Location"] == place
    assert own.post(place, {"action": "stop"}).status_code == 403
    assert nobody.post(place, {"action": "stop"}).status_code == 302
    assert "Stop study" in other.get(place).content.decode()
    assert other.post(place, {"action": "stop"}).status_code == 302
    row.refresh_from_db()
    assert (row.why, row.boards, row.player) == ("stopped", 128, berto)
    spanish = nobody.get(place, headers={"accept-language": "es"}).content.decode()
    assert ("Gana el mejor bot" in spanish, "Parado" in spanish) == (True, True)
    Study.objects.filter(pk=row.pk).update(
        why="a bot failed: timeout: no answer within 14.5 s of wall time (0.01 s of CPU used)"
    )
    spanish = nobody.get(place, headers={"accept-language": "es"}).content.decode()
    assert "sin respuesta en 14,5 s" in spanish
    Study.objects.filter(pk=row.pk).update(why=parts.BY_OPERATOR)
    page = other.get(place).content.decode()
    assert ("ask an operator" in page, 'value="more"' in page) == (True, False)
    assert other.post(place, {"action": "more", "boards": "256"}, follow=True).status_code == 200
    assert Study.objects.get(pk=row.pk).decided
    assert nobody.get("/lab/none/").status_code == 404
    for options in ({"exchange": "gone"}, {"gone": 1}):  # A later release lacks them.
        Study.objects.filter(pk=row.pk).update(options=options)
        answer = own.post(place, {"action": "more", "boards": "128"}, follow=True)
        assert (answer.status_code, "These rules no longer exist" in answer.content.decode()) == (200, True), options
    Study.objects.filter(pk=row.pk).update(game="gone")
    assert nobody.get(place).status_code == 404
