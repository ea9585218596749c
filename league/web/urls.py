"""Addresses of the pages. They are stable: links to a match or a step of it are meant to be shared."""

from __future__ import annotations

from django.conf import settings
from django.urls import path
from django.views.generic import RedirectView

from league.web.bots import downloads
from league.web.bots import views as bots
from league.web.common import prefs
from league.web.games import views as games
from league.web.matches import embedding, opening, playing, puzzles, tables, trying, tv
from league.web.matches import views as matches
from league.web.operators import views as operators
from league.web.pages import documents, learning, live, search, sitemaps
from league.web.pages import views as pages
from league.web.people import digests, letters, news, notices, own_data, ways_in
from league.web.people import views as people
from league.web.previews import links as previews
from league.web.ratings import views as ratings
from league.web.tournaments import bot_choice, creating
from league.web.tournaments import circuit_views as circuits
from league.web.tournaments import event_views as events
from league.web.tournaments import request_views as requests
from league.web.tournaments import views as tournaments

urlpatterns = [
    path("", pages.home, name="home"),
    path("g/", games.games, name="games"),
    path("overall/", ratings.overall, name="overall"),
    path("g/<slug:key>/", games.game, name="game"),
    path("g/<slug:key>/ratings.csv", ratings.leaderboard_csv, name="game-ratings"),
    path("g/<slug:key>/boards.jsonl", ratings.boards_jsonl, name="game-boards"),
    path("bots/", bots.bots, name="bots"),
    path("bots/<slug:slug>/", bots.bot, name="bot"),
    path("bots/<slug:slug>/vs/", bots.compare, name="compare"),
    path("bots/<slug:slug>/vs/<slug:other>/", bots.encounter, name="encounter"),
    path("bots/<slug:slug>/challenge/", bots.challenge, name="challenge"),
    path("bots/<slug:slug>/edit/", bots.edit, name="bot-edit"),
    path("bots/<slug:slug>/v<int:number>/", bots.version, name="version"),
    path("bots/<slug:slug>/v<int:number>/source", downloads.source, name="version-source"),
    path("bots/<slug:slug>/v<int:number>/package.zip", downloads.package, name="version-package"),
    path("players/", people.player_list, name="players"),
    path("players/<slug:name>/", people.player, name="player"),
    path("players/<slug:name>/news.atom", news.feed, name="player-news"),
    path("players/<slug:name>/digest/<slug:period>/", digests.digest, name="digest"),
    path("players/<slug:name>/digest/<slug:period>.atom", digests.feed, name="digest-feed"),
    path("submit/", bots.submit, name="submit"),
    path("editor/", trying.editor, name="editor"),
    path("editor/draft/", trying.draft, name="draft"),
    path("editor/kits/<slug:name>.zip", downloads.kit, name="kit"),
    path("tries/<slug:public_id>/", trying.tried, name="try"),
    path("tries/<slug:public_id>/replay.json", trying.tried_json, name="try-replay"),
    path("play/", playing.play, name="play"),
    path("tables/", RedirectView.as_view(pattern_name="play", query_string=True, permanent=True), name="tables"),
    path("tables/<slug:public_id>/", tables.table, name="table"),
    path("tables/<slug:public_id>/do/", tables.act, name="table-do"),
    path("tables/<slug:public_id>/replay.json", tables.table_json, name="table-replay"),
    path("t/", tournaments.tournaments, name="tournaments"),
    path("t/new/", creating.new_tournament, name="tournament-new"),
    path("t/new/forecast/", creating.forecast, name="tournament-forecast"),
    path("t/new/bots/", bot_choice.found_bots, name="bots-found"),
    path("e/", events.events, name="events"),
    path("e/new/", creating.old_address, {"format": "groups"}, name="event-new"),
    path(
        "e/new/forecast/",
        creating.old_address,
        {"format": "groups", "name": "tournament-forecast"},
        name="event-forecast",
    ),
    path("e/<slug:slug>/", events.event, name="event"),
    path("e/<slug:slug>/show/", tv.show, name="event-show"),
    path("e/<slug:slug>/show/replay.json", tv.show_json, name="event-show-replay"),
    path("e/<slug:slug>/join/<slug:link>/", events.join_event, name="event-join"),
    path("e/<slug:slug>/marks.csv", events.marks, name="event-marks"),
    path("e/<slug:slug>/enter/", events.enter_event, name="event-enter"),
    path("e/<slug:slug>/do/", events.act_on_event, name="event-do"),
    path("c/new/", creating.old_address, {"format": "weekly"}, name="circuit-new"),
    path("c/<slug:slug>/", circuits.circuit, name="circuit"),
    path("c/<slug:slug>/do/", circuits.act_on_circuit, name="circuit-do"),
    path("t/<slug:slug>/", tournaments.tournament, name="tournament"),
    path("t/<slug:slug>/standings.csv", tournaments.standings_csv, name="standings-csv"),
    path("t/<slug:slug>/matches.csv", tournaments.matches_csv, name="tournament-matches-csv"),
    path("t/<slug:slug>/crosstable.csv", tournaments.crosstable_csv, name="crosstable-csv"),
    path("t/<slug:slug>/crosstable.png", tournaments.crosstable_png, name="crosstable-png"),
    path("t/<slug:slug>/do/", tournaments.act_on_tournament, name="tournament-do"),
    path("m/", matches.matches, name="matches"),
    path("m/<slug:public_id>/", matches.match, name="match"),
    path("m/<slug:public_id>/b/<int:number>/", matches.board, name="board"),
    path("m/<slug:public_id>/judge/", matches.judge, name="match-judge"),
    path("m/<slug:public_id>/consult/", matches.consult, name="match-consult"),
    path("m/<slug:public_id>/sent/", trying.sent, name="match-sent"),
    path("m/<slug:public_id>/open/", opening.open_decision, name="match-open"),
    path("m/<slug:public_id>/replay.json", matches.replay_json, name="match-replay"),
    path("m/<slug:public_id>.jsonl", matches.replay_log, name="match-log"),
    path("m/<slug:public_id>.txt", matches.replay_text, name="match-text"),
    path("operators/", operators.operators, name="operators"),
    path("operators/<slug:name>/", operators.action, name="operator-action"),
    path("puzzles/", puzzles.puzzles, name="puzzles"),
    path("puzzles.jsonl", puzzles.puzzles_jsonl, name="puzzles-file"),
    path("puzzles/<slug:identity>/", puzzles.puzzle, name="puzzle"),
    path("puzzles/<slug:identity>/replay.json", puzzles.puzzle_json, name="puzzle-replay"),
    path("embed/m/<slug:public_id>/", embedding.embed_match, name="embed-match"),
    path("embed/tables/<slug:public_id>/", embedding.embed_table, name="embed-table"),
    path("embed/tables/<slug:public_id>/replay.json", embedding.embed_table_json, name="embed-table-replay"),
    path("embed/puzzles/<slug:identity>/", embedding.embed_puzzle, name="embed-puzzle"),
    path("oembed", embedding.oembed, name="oembed"),
    path("tv/", tv.tv, name="tv"),
    path("status/", pages.status, name="status"),
    path("queue/", RedirectView.as_view(pattern_name="status", query_string=True, permanent=True), name="queue"),
    path("search/", search.search, name="search"),
    path("about/", pages.about, name="about"),
    path("privacy/", pages.privacy, name="privacy"),
    path("robots.txt", sitemaps.robots, name="robots"),
    path("sitemap.xml", sitemaps.index, name="sitemap"),
    path("sitemap-<slug:part>-<int:number>.xml", sitemaps.part, name="sitemap-part"),
    path("live", live.live, name="live"),
    path("metrics", pages.metrics_text, name="metrics"),
    path("version", pages.version_json, name="version-json"),
    path("healthz", pages.healthz, name="healthz"),
    path("readyz", pages.readyz, name="readyz"),
    path("preview/<str:token>.png", previews.preview, name="preview"),
    path("learn/", learning.learn, name="learn"),
    path("learn/how/", learning.how, name="how"),
    path("teach/", learning.teach, name="teach"),
    path("research/", learning.research, name="research"),
    path("run-your-own/", learning.run_your_own, name="run-your-own"),
    path("docs/", documents.documents, name="docs"),
    path("docs/source/<path:name>", documents.source, name="source"),
    path("docs/<path:name>/", documents.document, name="doc"),
    path("accounts/signup/", people.sign_up, name="signup"),
    path("accounts/welcome/", people.welcome, name="welcome"),
    path("accounts/login/", people.LogIn.as_view(), name="login"),
    path("accounts/logout/", people.log_out, name="logout"),
    path("accounts/me/", people.account, name="account"),
    path("accounts/requests/", requests.requests, name="requests"),
    path("accounts/password/", people.NewPassword.as_view(), name="password"),
    path("accounts/data/", own_data.export, name="own-data"),
    path("accounts/close/", own_data.close, name="close-account"),
    path("accounts/mail/", ways_in.address, name="mail"),
    path("accounts/mail/confirm/<str:word>/", letters.confirm, name="mail-confirm"),
    path("accounts/digest/stop/<str:word>/", letters.stop, name="mail-stop"),
    path("notices/", notices.notices, name="notices"),
    path("notices/<int:number>/", notices.open_notice, name="notice"),
    path("notices/ways/", notices.choose_ways, name="notice-ways"),
    path("follows/", notices.follows, name="follows"),
    path("follows/<slug:kind>/<slug:name>/", notices.follow, name="follow"),
    path("accounts/forgotten/", ways_in.forgotten, name="forgotten"),
    path("accounts/reset/<str:uidb64>/<str:token>/", ways_in.ByLink.as_view(), name="reset"),
    path("prefs/", prefs.keep_preferences, name="prefs"),
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}league/mark.svg", permanent=True)),
]
