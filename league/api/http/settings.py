"""Settings of the API's libraries, and the API's own limits, read from the environment."""

from __future__ import annotations

from league.service.env import envint

PER_MINUTE = 60
PER_HOUR = 3600
# Requests and seconds by scope. A player's requests are counted by account, all others by network address.
API_RATES = {
    "anon": (envint("API_ANON_PER_MINUTE", 120, least=1), PER_MINUTE),
    "user": (envint("API_USER_PER_MINUTE", 600, least=1), PER_MINUTE),
    "remote": (envint("API_REMOTE_PER_MINUTE", 1800, least=1), PER_MINUTE),
    "upload": (envint("API_UPLOADS_PER_HOUR", 60, least=1), PER_HOUR),
}

# Everything else is set on league.api.http.base.View: if it were named here, the library would import our modules while they import the library.
REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "league.api.http.problems.answer",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_THROTTLE_RATES": API_RATES,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tute League",
    "DESCRIPTION": "Bots that play the Tute family of card games: upload them, let them meet, read ratings and every card played.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "TAGS": [
        {"name": name, "description": text}
        for name, text in (
            ("games", "The games that the league plays, with their options."),
            ("players", "The people who own bots."),
            ("bots", "Bots, their versions and teams."),
            ("tournaments", "Tournaments with entries and standings; arenas for people."),
            ("classes", "Classes of students: assignments, what is handed in, and marks."),
            ("requests", "Whom owners let enter their bots: requests, answers, blocks."),
            ("matches", "Matches, boards, replays, and tables of people."),
            ("ratings", "Pools and their leaderboards."),
            ("account", "Yourself and your tokens."),
            ("operators", "What operators do to what belongs to others."),
        )
    ],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "league.api.http.schema.add_common_parts",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ArenaState": [(word, word) for word in ("open", "running", "over")],
        "BotState": "league.enums.BotState",
        "Right": "league.enums.Right",
        "TokenScope": "league.enums.TokenScope",
        "OwnScope": [(word, word) for word in ("read", "submit", "manage")],
        "VersionStatus": "league.enums.VersionStatus",
        "AuditVerdict": "league.enums.AuditVerdict",
        "HandInVerdict": "league.enums.HandInVerdict",
        "VersionTestVerdict": "league.enums.VersionTestVerdict",
        "MatchStatus": "league.enums.MatchStatus",
        "MatchKind": "league.enums.MatchKind",
        "JudgementKind": "league.enums.JudgementKind",
        "JudgementStatus": "league.enums.JudgementStatus",
        "ConsultationStatus": "league.enums.ConsultationStatus",
        "TournamentStatus": "league.enums.TournamentStatus",
        "TournamentFormat": "league.enums.format_choices",
        "FaultKind": "league.enums.FaultKind",
        "EntryPolicy": "league.enums.EntryPolicy",
        "RequestStatus": "league.enums.RequestStatus",
        "TeamRole": "league.enums.TeamRole",
        "ClassRole": "league.enums.ClassRole",
    },
}
