"""Addresses below /api/v1/, without a slash at the end."""

from __future__ import annotations

from django.urls import path, re_path, register_converter
from django.views.decorators.csrf import csrf_exempt

from league.api.bots import views as bots
from league.api.http.index import Index, nowhere
from league.api.http.schema import Document
from league.api.matches import table_views as tables
from league.api.matches import views as matches
from league.api.operators import views as operators
from league.api.people import views as people
from league.api.ratings import views as ratings
from league.api.tournaments import event_views as events
from league.api.tournaments import format_views as formats
from league.api.tournaments import request_views as requests
from league.api.tournaments import views as tournaments


class Id:
    """A row id that every database can look up: an address with a larger number does not exist."""

    regex = "[0-9]{1,9}"

    def to_python(self, value: str) -> int:
        """Return the number."""
        return int(value)

    def to_url(self, value: int) -> str:
        """Return its digits."""
        return str(value)


class Word:
    """A slug of the league."""

    regex = "[-a-z0-9_]{1,60}"

    def to_python(self, value: str) -> str:
        """Return the value unchanged."""
        return value

    def to_url(self, value: str) -> str:
        """Return the value unchanged."""
        return value


register_converter(Id, "id")
register_converter(Word, "word")

app_name = "api"
urlpatterns = [
    path("", csrf_exempt(Index.as_view()), name="index"),
    path("schema", csrf_exempt(Document.as_view()), name="schema"),
    path("games", ratings.Games.as_view(), name="games"),
    path("games/<word:key>", ratings.OneGame.as_view(), name="game"),
    path("players", people.Players.as_view(), name="players"),
    path("players/<word:name>", people.OnePlayer.as_view(), name="player"),
    path("me", people.Me.as_view(), name="me"),
    path("me/limits", people.MyLimits.as_view(), name="my-limits"),
    path("me/requests", requests.MyRequests.as_view(), name="my-requests"),
    path("me/blocks", requests.MyBlocks.as_view(), name="my-blocks"),
    path("me/blocks/<word:name>", requests.OneBlock.as_view(), name="my-block"),
    path("requests/<id:id>", requests.OneRequest.as_view(), name="request"),
    path("requests/<id:id>/grant", requests.Grant.as_view(), name="request-grant"),
    path("requests/<id:id>/refuse", requests.Refuse.as_view(), name="request-refuse"),
    path("tokens", people.Tokens.as_view(), name="tokens"),
    path("tokens/<id:id>", people.OneToken.as_view(), name="token"),
    path("bots", bots.Bots.as_view(), name="bots"),
    path("bots/<word:slug>", bots.OneBot.as_view(), name="bot"),
    path("bots/<word:slug>/versions", bots.BotVersions.as_view(), name="bot-versions"),
    path("bots/<word:slug>/versus/<word:other>", bots.Encounters.as_view(), name="encounters"),
    path("bots/<word:slug>/judged", bots.JudgedSums.as_view(), name="bot-judged"),
    path("versions", bots.Versions.as_view(), name="versions"),
    path("versions/<id:id>", bots.OneVersion.as_view(), name="version"),
    path("versions/<id:id>/audits", bots.VersionAudits.as_view(), name="version-audits"),
    path("versions/<id:id>/ratings", ratings.VersionRatings.as_view(), name="version-ratings"),
    path("tournaments", tournaments.Tournaments.as_view(), name="tournaments"),
    path("events", events.Events.as_view(), name="events"),
    path("events/<word:slug>", events.OneEvent.as_view(), name="event"),
    path("events/<word:slug>/start", events.StartEvent.as_view(), name="event-start"),
    path("events/<word:slug>/cancel", events.CancelEvent.as_view(), name="event-cancel"),
    path("events/<word:slug>/show", events.ShowEvent.as_view(), name="event-show"),
    path("events/<word:slug>/link", events.LinkOfEvent.as_view(), name="event-link"),
    path("events/<word:slug>/join", events.JoinEvent.as_view(), name="event-join"),
    path("events/<word:slug>/bots", events.BotsOfEvent.as_view(), name="event-bots"),
    path("events/<word:slug>/embargo", events.EmbargoOfEvent.as_view(), name="event-embargo"),
    path("events/<word:slug>/requests", requests.WaitingOfEvent.as_view(), name="event-requests"),
    path("circuits", events.Circuits.as_view(), name="circuits"),
    path("circuits/<word:slug>", events.OneCircuit.as_view(), name="circuit"),
    path("circuits/<word:slug>/bots", events.CircuitBots.as_view(), name="circuit-bots"),
    path("circuits/<word:slug>/bots/<word:bot>", events.OneCircuitBot.as_view(), name="circuit-bot"),
    path("circuits/<word:slug>/seasons", events.Seasons.as_view(), name="seasons"),
    path("circuits/<word:slug>/requests", requests.WaitingOfCircuit.as_view(), name="circuit-requests"),
    path("formats", formats.Formats.as_view(), name="formats"),
    path("forecast", formats.Forecast.as_view(), name="forecast"),
    path("tournaments/<word:slug>", tournaments.OneTournament.as_view(), name="tournament"),
    path("tournaments/<word:slug>/start", tournaments.Start.as_view(), name="tournament-start"),
    path("tournaments/<word:slug>/cancel", tournaments.Cancel.as_view(), name="tournament-cancel"),
    path("tournaments/<word:slug>/pause", tournaments.Pause.as_view(), name="tournament-pause"),
    path("tournaments/<word:slug>/resume", tournaments.Resume.as_view(), name="tournament-resume"),
    path("tournaments/<word:slug>/embargo", tournaments.Embargo.as_view(), name="tournament-embargo"),
    path("tournaments/<word:slug>/entries", tournaments.Entries.as_view(), name="entries"),
    path("tournaments/<word:slug>/entries/<id:number>", tournaments.OneEntry.as_view(), name="entry"),
    path("tournaments/<word:slug>/requests", requests.WaitingOfTournament.as_view(), name="tournament-requests"),
    path("tournaments/<word:slug>/extend", formats.Extend.as_view(), name="tournament-extend"),
    path("tournaments/<word:slug>/close", formats.Close.as_view(), name="tournament-close"),
    path("tournaments/<word:slug>/rounds", formats.Rounds.as_view(), name="rounds"),
    path("tournaments/<word:slug>/bracket", formats.Bracket.as_view(), name="bracket"),
    path("tournaments/<word:slug>/standings", tournaments.Standings.as_view(), name="standings"),
    path("challenges", matches.Challenges.as_view(), name="challenges"),
    path("tries", matches.Tries.as_view(), name="tries"),
    path("tries/<word:id>", matches.OneTry.as_view(), name="try"),
    path("tables", tables.Tables.as_view(), name="tables"),
    path("tables/<word:id>", tables.OneTable.as_view(), name="table"),
    path("tables/<word:id>/choices", tables.Choices.as_view(), name="table-choices"),
    path("tables/<word:id>/advice", tables.Advice.as_view(), name="table-advice"),
    path("tables/<word:id>/leave", tables.Leave.as_view(), name="table-leave"),
    path("matches", matches.Matches.as_view(), name="matches"),
    path("matches/<word:id>", matches.OneMatch.as_view(), name="match"),
    path("matches/<word:id>/boards", matches.Boards.as_view(), name="boards"),
    path("matches/<word:id>/boards/<id:number>", matches.OneBoard.as_view(), name="board"),
    path("matches/<word:id>/boards/<id:number>/sittings/<id:sitting>/replay", matches.Replay.as_view(), name="replay"),
    path("matches/<word:id>/analysis/<word:kind>", matches.Analysis.as_view(), name="analysis"),
    path(
        "matches/<word:id>/boards/<id:number>/sittings/<id:sitting>/seats/<id:seat>/answers/<word:bot>",
        matches.Answers.as_view(),
        name="answers",
    ),
    path("operators/actions", operators.Actions.as_view(), name="operator-actions"),
    path("operators/journal", operators.Journal.as_view(), name="operator-journal"),
    path("queue", ratings.QueueState.as_view(), name="queue"),
    path("overall", ratings.Overall.as_view(), name="overall"),
    path("pools", ratings.Pools.as_view(), name="pools"),
    path("pools/<id:id>", ratings.OnePool.as_view(), name="pool"),
    path("pools/<id:id>/leaderboard", ratings.Leaderboard.as_view(), name="leaderboard"),
    path("pools/<id:id>/history", ratings.History.as_view(), name="history"),
    re_path(r"^(?P<rest>(?s:.*))\Z", nowhere),
]
