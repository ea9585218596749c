"""Addresses below /api/v1/, without a slash at the end."""

from __future__ import annotations

from django.urls import path, re_path, register_converter
from django.views.decorators.csrf import csrf_exempt

from league.api.bots import git_views as git
from league.api.bots import remote_views as remote
from league.api.bots import team_views as teams
from league.api.bots import tuning_views as tunings
from league.api.bots import views as bots
from league.api.classes import views as classes
from league.api.http.index import Index, nowhere
from league.api.http.schema import Document
from league.api.matches import puzzle_views as puzzles
from league.api.matches import room_views as rooms
from league.api.matches import table_views as tables
from league.api.matches import views as matches
from league.api.matches import volunteer_views as volunteers
from league.api.operators import views as operators
from league.api.people import views as people
from league.api.ratings import study_views as studies
from league.api.ratings import views as ratings
from league.api.tournaments import arena_views as arenas
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
    path("games", ratings.GamesView.as_view(), name="games"),
    path("games/<word:key>", ratings.OneGameView.as_view(), name="game"),
    path("games/<word:key>/choices", ratings.OpeningChoicesView.as_view(), name="choices"),
    path("studies", studies.StudiesView.as_view(), name="studies"),
    path("studies/<word:key>", studies.OneStudyView.as_view(), name="study"),
    path("studies/<word:key>/stop", studies.StopStudyView.as_view(), name="study-stop"),
    path("players", people.PlayersView.as_view(), name="players"),
    path("players/<word:name>", people.OnePlayerView.as_view(), name="player"),
    path("me", people.MeView.as_view(), name="me"),
    path("me/limits", people.MyLimitsView.as_view(), name="my-limits"),
    path("me/requests", requests.MyRequestsView.as_view(), name="my-requests"),
    path("me/notices", people.MyNoticesView.as_view(), name="my-notices"),
    path("me/notices/read", people.NoticesReadView.as_view(), name="notices-read"),
    path("me/blocks", requests.MyBlocksView.as_view(), name="my-blocks"),
    path("me/blocks/<word:name>", requests.OneBlockView.as_view(), name="my-block"),
    path("requests/<id:id>", requests.OneRequestView.as_view(), name="request"),
    path("requests/<id:id>/grant", requests.GrantView.as_view(), name="request-grant"),
    path("requests/<id:id>/refuse", requests.RefuseView.as_view(), name="request-refuse"),
    path("tokens", people.TokensView.as_view(), name="tokens"),
    path("tokens/<id:id>", people.OneTokenView.as_view(), name="token"),
    path("bots", bots.BotsView.as_view(), name="bots"),
    path("bots/<word:slug>", bots.OneBotView.as_view(), name="bot"),
    path("bots/<word:slug>/versions", bots.BotVersionsView.as_view(), name="bot-versions"),
    path("bots/<word:slug>/fetches", git.BotFetchesView.as_view(), name="bot-fetches"),
    path("bots/<word:slug>/tunings", tunings.BotTuningsView.as_view(), name="tunings"),
    path("tunings/<id:id>", tunings.OneTuningView.as_view(), name="tuning"),
    path("tunings/<id:id>/stop", tunings.StopTuningView.as_view(), name="tuning-stop"),
    path("bots/<word:slug>/push", git.PushView.as_view(), name="bot-push"),
    path("fetches/<id:id>", git.OneFetchView.as_view(), name="fetch"),
    path("bots/<word:slug>/remote", remote.RemoteView.as_view(), name="bot-remote"),
    path("bots/<word:slug>/versus/<word:other>", bots.EncountersView.as_view(), name="encounters"),
    path("bots/<word:slug>/leagues", bots.LeaguesView.as_view(), name="bot-leagues"),
    path("bots/<word:slug>/judged", bots.JudgedSumsView.as_view(), name="bot-judged"),
    path("bots/<word:slug>/offer", teams.OfferView.as_view(), name="bot-offer"),
    path("bots/<word:slug>/offer/accept", teams.AcceptOfferView.as_view(), name="bot-offer-accept"),
    path("me/offers", teams.MyOffersView.as_view(), name="my-offers"),
    path("me/teams", teams.MyTeamsView.as_view(), name="my-teams"),
    path("teams", teams.TeamsView.as_view(), name="teams"),
    path("teams/<word:name>", teams.OneTeamView.as_view(), name="team"),
    path("teams/<word:name>/members", teams.MembersView.as_view(), name="team-members"),
    path("teams/<word:name>/members/<word:player>", teams.OneMemberView.as_view(), name="team-member"),
    path("teams/<word:name>/bots", teams.TeamBotsView.as_view(), name="team-bots"),
    path("teams/<word:name>/bots/<word:bot>", teams.OneTeamBotView.as_view(), name="team-bot"),
    path("teams/<word:name>/history", teams.TeamHistoryView.as_view(), name="team-history"),
    path("versions", bots.VersionsView.as_view(), name="versions"),
    path("versions/<id:id>", bots.OneVersionView.as_view(), name="version"),
    path("versions/<id:id>/audits", bots.VersionAuditsView.as_view(), name="version-audits"),
    path("versions/<id:id>/ratings", ratings.VersionRatingsView.as_view(), name="version-ratings"),
    path("tournaments", tournaments.TournamentsView.as_view(), name="tournaments"),
    path("events", events.EventsView.as_view(), name="events"),
    path("events/<word:slug>", events.OneEventView.as_view(), name="event"),
    path("events/<word:slug>/start", events.StartEventView.as_view(), name="event-start"),
    path("events/<word:slug>/cancel", events.CancelEventView.as_view(), name="event-cancel"),
    path("events/<word:slug>/show", events.ShowEventView.as_view(), name="event-show"),
    path("events/<word:slug>/link", events.LinkOfEventView.as_view(), name="event-link"),
    path("events/<word:slug>/join", events.JoinEventView.as_view(), name="event-join"),
    path("events/<word:slug>/bots", events.BotsOfEventView.as_view(), name="event-bots"),
    path("events/<word:slug>/embargo", events.EmbargoOfEventView.as_view(), name="event-embargo"),
    path("events/<word:slug>/requests", requests.WaitingOfEventView.as_view(), name="event-requests"),
    path("circuits", events.CircuitsView.as_view(), name="circuits"),
    path("circuits/<word:slug>", events.OneCircuitView.as_view(), name="circuit"),
    path("circuits/<word:slug>/bots", events.CircuitBotsView.as_view(), name="circuit-bots"),
    path("circuits/<word:slug>/bots/<word:bot>", events.OneCircuitBotView.as_view(), name="circuit-bot"),
    path("circuits/<word:slug>/seasons", events.SeasonsView.as_view(), name="seasons"),
    path("circuits/<word:slug>/requests", requests.WaitingOfCircuitView.as_view(), name="circuit-requests"),
    path("arenas", arenas.ArenasView.as_view(), name="arenas"),
    path("arenas/<word:slug>", arenas.OneArenaView.as_view(), name="arena"),
    path("arenas/<word:slug>/standing", arenas.ArenaStandingView.as_view(), name="arena-standing"),
    path("arenas/<word:slug>/play", arenas.PlayArenaView.as_view(), name="arena-play"),
    path("arenas/<word:slug>/stop", arenas.StopArenaView.as_view(), name="arena-stop"),
    path("arenas/<word:slug>/bots", arenas.ArenaBotsView.as_view(), name="arena-bots"),
    path("formats", formats.FormatsView.as_view(), name="formats"),
    path("forecast", formats.ForecastView.as_view(), name="forecast"),
    path("tournaments/<word:slug>", tournaments.OneTournamentView.as_view(), name="tournament"),
    path("tournaments/<word:slug>/start", tournaments.StartView.as_view(), name="tournament-start"),
    path("tournaments/<word:slug>/cancel", tournaments.CancelView.as_view(), name="tournament-cancel"),
    path("tournaments/<word:slug>/pause", tournaments.PauseView.as_view(), name="tournament-pause"),
    path("tournaments/<word:slug>/resume", tournaments.ResumeView.as_view(), name="tournament-resume"),
    path("tournaments/<word:slug>/embargo", tournaments.EmbargoView.as_view(), name="tournament-embargo"),
    path("tournaments/<word:slug>/entries", tournaments.EntriesView.as_view(), name="entries"),
    path("tournaments/<word:slug>/entries/<id:number>", tournaments.OneEntryView.as_view(), name="entry"),
    path("tournaments/<word:slug>/requests", requests.WaitingOfTournamentView.as_view(), name="tournament-requests"),
    path("tournaments/<word:slug>/extend", formats.ExtendView.as_view(), name="tournament-extend"),
    path("tournaments/<word:slug>/close", formats.CloseView.as_view(), name="tournament-close"),
    path("tournaments/<word:slug>/rounds", formats.RoundsView.as_view(), name="rounds"),
    path("tournaments/<word:slug>/bracket", formats.BracketView.as_view(), name="bracket"),
    path("tournaments/<word:slug>/standings", tournaments.StandingsView.as_view(), name="standings"),
    path("challenges", matches.ChallengesView.as_view(), name="challenges"),
    path("tries", matches.TriesView.as_view(), name="tries"),
    path("tries/<word:id>", matches.OneTryView.as_view(), name="try"),
    path("tables", tables.TablesView.as_view(), name="tables"),
    path("tables/<word:id>", tables.OneTableView.as_view(), name="table"),
    path("tables/<word:id>/choices", tables.ChoicesView.as_view(), name="table-choices"),
    path("tables/<word:id>/advice", tables.AdviceView.as_view(), name="table-advice"),
    path("tables/<word:id>/leave", tables.LeaveView.as_view(), name="table-leave"),
    path("tables/<word:id>/phrases", rooms.PhrasesView.as_view(), name="table-phrases"),
    path("deals/<word:id>/tables", rooms.SameDealsView.as_view(), name="deals-tables"),
    path("lobby", rooms.LobbyView.as_view(), name="lobby"),
    path("tables/<word:id>/seat", rooms.TableSeatView.as_view(), name="table-seat"),
    path("tables/<word:id>/start", rooms.StartTableView.as_view(), name="table-start"),
    path("tables/<word:id>/swap", rooms.SwapView.as_view(), name="table-swap"),
    path("tables/<word:id>/send-away", rooms.SendAwayView.as_view(), name="table-send-away"),
    path("tables/<word:id>/rematch", rooms.RematchView.as_view(), name="table-rematch"),
    path("tables/<word:id>/challenges", rooms.TableChallengesView.as_view(), name="table-challenges"),
    path("tables/<word:id>/challenges/<word:name>", rooms.OneTableChallengeView.as_view(), name="table-challenge"),
    path("me/challenges", rooms.MyChallengesView.as_view(), name="my-challenges"),
    path("me/classes", classes.MyClassesView.as_view(), name="my-classes"),
    path("classes/<word:slug>", classes.OneClassView.as_view(), name="class"),
    path("classes/<word:slug>/marks", classes.ClassMarksView.as_view(), name="class-marks"),
    path("classes/<word:slug>/assignments", classes.AssignmentsView.as_view(), name="assignments"),
    path("classes/<word:slug>/assignments/<id:number>/hand-ins", classes.HandInsView.as_view(), name="hand-ins"),
    path("matches", matches.MatchesView.as_view(), name="matches"),
    path("matches/<word:id>", matches.OneMatchView.as_view(), name="match"),
    path("matches/<word:id>/boards", matches.BoardsView.as_view(), name="boards"),
    path("matches/<word:id>/boards/<id:number>", matches.OneBoardView.as_view(), name="board"),
    path(
        "matches/<word:id>/boards/<id:number>/sittings/<id:sitting>/replay", matches.ReplayView.as_view(), name="replay"
    ),
    path(
        "matches/<word:id>/boards/<id:number>/sittings/<id:sitting>/comments",
        matches.CommentsView.as_view(),
        name="comments",
    ),
    path("matches/<word:id>/analysis/<word:kind>", matches.AnalysisView.as_view(), name="analysis"),
    path(
        "matches/<word:id>/boards/<id:number>/sittings/<id:sitting>/seats/<id:seat>/answers/<word:bot>",
        matches.AnswersView.as_view(),
        name="answers",
    ),
    path("volunteer", volunteers.VolunteerView.as_view(), name="volunteer"),
    path("puzzles/next", puzzles.NextPuzzleView.as_view(), name="puzzle-next"),
    path("puzzles/<word:id>/answers", puzzles.PuzzleAnswersView.as_view(), name="puzzle-answers"),
    path("me/puzzles", puzzles.MyPuzzlesView.as_view(), name="my-puzzles"),
    path("operators/actions", operators.ActionsView.as_view(), name="operator-actions"),
    path("operators/journal", operators.JournalView.as_view(), name="operator-journal"),
    path("boards", matches.BoardsOfMatchesView.as_view(), name="boards-of-matches"),
    path("data", matches.DataFilesView.as_view(), name="data"),
    path("queue", ratings.QueueStateView.as_view(), name="queue"),
    path("overall", ratings.OverallView.as_view(), name="overall"),
    path("pools", ratings.PoolsView.as_view(), name="pools"),
    path("pools/<id:id>", ratings.OnePoolView.as_view(), name="pool"),
    path("pools/<id:id>/leaderboard", ratings.LeaderboardView.as_view(), name="leaderboard"),
    path("pools/<id:id>/history", ratings.HistoryView.as_view(), name="history"),
    re_path(r"^(?P<rest>(?s:.*))\Z", nowhere),
]
