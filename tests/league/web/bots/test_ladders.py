"""Standing ladders on the pages: the owner's switch, how a new version does against the one before, what the table says."""

from __future__ import annotations

from django.test import Client

from league.models import Bot
from tests.league.web.page import Page
from tests.support.league import accepted


def read(client: Client, address: str, language: str = "es") -> str:
    return Page(client.get(address, headers={"accept-language": language}).content.decode()).text


def test_the_owner_takes_a_bot_off_the_ladders_and_lets_it_back(ana, berto, settings):
    settings.LADDERS = True
    bot = accepted(ana, "rufo").bot
    owner, stranger = Client(), Client()
    owner.force_login(ana.user)
    stranger.force_login(berto.user)

    assert "Este bot juega en la clasificación continua" in read(owner, "/bots/rufo/?tab=settings")
    assert "clasificaciones continuas" not in read(stranger, "/bots/rufo/?tab=settings")
    assert stranger.post("/bots/rufo/edit/", {"on_ladders": "0"}).status_code == 403
    owner.post("/bots/rufo/edit/", {"on_ladders": "0"})
    assert not Bot.objects.get(pk=bot.pk).on_ladders
    assert "This bot does not play on the standing ladders." in read(owner, "/bots/rufo/?tab=settings", "en")
    owner.post("/bots/rufo/edit/", {"on_ladders": "1"})
    assert Bot.objects.get(pk=bot.pk).on_ladders
    settings.LADDERS = False
    assert "clasificaciones continuas" not in read(owner, "/bots/rufo/?tab=settings"), (
        "where the site plays none there is nothing to choose"
    )


def test_the_page_of_a_game_says_that_its_ladder_plays(db, settings):
    settings.LADDERS = True
    assert "Todos los bots aceptados juegan en la clasificación continua" in read(
        Client(), "/g/partnership/?tab=ladder"
    )
    assert Client().get("/docs/ladders/").status_code == 200
