"""Addresses of the pages. They are stable: links to a match or a step of it are meant to be shared."""

from __future__ import annotations

from django.conf import settings
from django.urls import path
from django.views.generic import RedirectView

from league.web.bots import bots, submit
from league.web.common import prefs
from league.web.games import games
from league.web.matches import matches
from league.web.pages import docs, home, queue
from league.web.people import account, players
from league.web.ratings import downloads
from league.web.tournaments import event_new, events, tournaments

urlpatterns = [
    path("", home.home, name="home"),
    path("g/", games.games, name="games"),
    path("overall/", games.overall, name="overall"),
    path("g/<slug:key>/", games.game, name="game"),
    path("g/<slug:key>/ratings.csv", downloads.ratings, name="game-ratings"),
    path("g/<slug:key>/boards.jsonl", downloads.boards, name="game-boards"),
    path("bots/", bots.bots, name="bots"),
    path("bots/<slug:slug>/", bots.bot, name="bot"),
    path("bots/<slug:slug>/vs/<slug:other>/", bots.versus, name="versus"),
    path("bots/<slug:slug>/edit/", bots.edit, name="bot-edit"),
    path("bots/<slug:slug>/v<int:number>/", bots.version, name="version"),
    path("players/<slug:name>/", players.player, name="player"),
    path("submit/", submit.submit, name="submit"),
    path("t/", tournaments.tournaments, name="tournaments"),
    path("t/new/", tournaments.new, name="tournament-new"),
    path("t/new/forecast/", tournaments.forecast, name="tournament-forecast"),
    path("e/", events.events, name="events"),
    path("e/new/", event_new.event, name="event-new"),
    path("e/new/forecast/", event_new.event_forecast, name="event-forecast"),
    path("e/<slug:slug>/", events.event, name="event"),
    path("c/new/", event_new.circuit, name="circuit-new"),
    path("c/<slug:slug>/", events.circuit, name="circuit"),
    path("c/<slug:slug>/do/", event_new.circuit_do, name="circuit-do"),
    path("t/<slug:slug>/", tournaments.tournament, name="tournament"),
    path("t/<slug:slug>/standings.csv", downloads.standings, name="standings-csv"),
    path("t/<slug:slug>/do/", tournaments.do, name="tournament-do"),
    path("m/", matches.matches, name="matches"),
    path("m/<slug:public_id>/", matches.match, name="match"),
    path("m/<slug:public_id>/b/<int:number>/", matches.board, name="board"),
    path("m/<slug:public_id>/replay.json", matches.replay_json, name="match-replay"),
    path("m/<slug:public_id>.jsonl", matches.log, name="match-log"),
    path("m/<slug:public_id>.txt", matches.text, name="match-text"),
    path("queue/", queue.queue, name="queue"),
    path("metrics", queue.numbers, name="metrics"),
    path("docs/", docs.index, name="docs"),
    path("docs/<slug:name>/", docs.page, name="doc"),
    path("accounts/signup/", account.signup, name="signup"),
    path("accounts/login/", account.LogIn.as_view(), name="login"),
    path("accounts/logout/", account.log_out, name="logout"),
    path("accounts/me/", account.account, name="account"),
    path("accounts/password/", account.NewPassword.as_view(), name="password"),
    path("prefs/", prefs.prefs, name="prefs"),
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}league/mark.svg", permanent=True)),
]
