"""Whatever people and robots send to the pages, the answer is a page: never an error of ours."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

WRONG = ["\0", "²", "٣", "-1", "9" * 30, "9" * 5000, "x" * 5000, "a'b", "0001-01-01T00:00", "9999-12-31T23:59:59-14:00"]
# On SQLite those on which databases differ: NUL, numbers and moments
HERE = WRONG if connection.vendor == "postgresql" else [WRONG[0], "-1", "9" * 30, *WRONG[-2:]]
ASKED = {
    "/bots/": ["q", "page"],
    "/bots/rufo/": ["pool"],
    "/m/": ["status", "game", "page"],
    "/m/{match}/": ["b", "s", "step"],
    "/embed/m/{match}/": ["b", "s"],
    "/oembed": ["url", "maxwidth", "maxheight"],
    "/m/{match}/replay.json": ["b", "s", "as"],
    "/m/{match}.txt": ["b", "s"],
    "/m/{match}.jsonl": ["b", "s"],
    "/talk/": ["about"],
    "/talk/?about=match:{match}:1:0": ["cursor"],
    "/t/": ["page"],
    "/t/{cup}/": ["page"],
    "/t/new/": ["game", "name", "with", "private", "boards", "copy"],
    "/t/new/?game=partnership": ["players", "format"],
    "/e/new/?game=partnership": ["players"],
    "/c/new/?game=partnership": ["players"],
    "/t/new/forecast/?game=brisca": ["players", "boards", "bots", "format", "option_hand_size"],
    "/g/partnership/": ["pool", "page", "at"],
    "/overall/": ["page", "at"],
    "/e/": ["page"],
    "/calendar/": ["game"],
    "/submit/": ["bot"],
    "/editor/": ["bot", "from", "at", "template", "language", "game", "players"],
    "/play/": ["game"],
    "/lobby/": ["game"],
    "/accounts/signup/": ["next"],
    "/accounts/login/": ["next"],
}
PLACES = [
    "/m/{}/",
    "/embed/m/{}/",
    "/embed/tables/{}/",
    "/embed/tables/{}/replay.json",
    "/embed/puzzles/{}/",
    "/puzzles/day/{}/",
    "/puzzles/mistakes/{}/",
    "/m/{}.txt",
    "/m/{}.jsonl",
    "/m/{}/replay.json",
    "/m/{match}/b/{}/",
    "/bots/{}/",
    "/tries/{}/",
    "/tries/{}/replay.json",
    "/deals/{}/",
    "/tables/{}/",
    "/tables/{}/replay.json",
    "/bots/rufo/v{}/",
    "/bots/rufo/v{}/source",
    "/bots/{}/v1/package.zip",
    "/editor/kits/{}.zip",
    "/bots/rufo/vs/{}/",
    "/players/{}/",
    "/t/{}/",
    "/e/{}/",
    "/c/{}/",
    "/teams/{}/",
    "/arenas/{}/",
    "/calendar/{}.ics",
    "/calendar/of/{}/x.ics",
    "/calendar/of/ana/{}.ics",
    "/notices/{}/",
    "/docs/{}/",
    "/lab/{}/",
]
SENT = {
    "/teams/": [{"name": None}],
    "/bots/rufo/hand-on/": [{"action": None}, {"action": "offer", "player": None}],
    "/bots/rufo/git/": [
        {"action": None},
        {"action": "link", "url": None, "folder": None},
        {"action": "fetch", "tag": None},
    ],
    "/bots/rufo/tuning/": [
        {"action": None},
        {"action": "start", "game": None, "boards": None, "opponent": None},
        {"action": "stop", "tuning": None},
    ],
    "/g/a_dos/study/": [
        {"boards": None},
        {"boards": "64", "better": None},
        {"boards": "64", "players": None, "do": None},
    ],
    "/bots/rufo/edit/": [{"description": None}, {"state": None}],
    "/t/{cup}/do/": [{"action": None}, {"action": "enter", "version": None}, {"action": "withdraw", "version": None}],
    "/calendar/link/": [{"action": None}],
    "/arenas/arena/do/": [{"action": None}, {"action": "enter", "bot": None}, {"action": "leave", "bot": None}],
    "/accounts/me/": [{"label": None}, {"revoke": None}],
    "/accounts/mail/": [{"address": None, "password": "x"}],
    "/notices/ways/": [{"failed": None}, {"period": None, "language": None}],
    "/follows/player/berto/": [{"action": None}, {"next": None}],
    "/accounts/close/": [{"name": None, "password": "x"}, {"name": "ana", "password": None}],
    "/accounts/forgotten/": [{"username": None}],
    "/prefs/": [{"next": None}, {"lang": None}, {"theme": None}, {"rest": None}, {"forced": None}, {"talk": None}],
    "/talk/": [
        {"about": None, "text": "x"},
        {"about": "match:{match}:1:0", "text": None},
        {"about": "match:{match}:1:0", "text": "x", "step": None},
        {"about": "match:{match}:1:0", "text": "x", "answers": None},
    ],
    "/accounts/signup/": [{"name": None, "password": "a long password"}, {"name": "dora", "password": None}],
    "/accounts/login/": [{"username": None, "password": "x"}],
    "/editor/": [
        {"source": None, "game": "partnership", "rival": "greedy", "do": "try"},
        {"source": "pass", "game": None, "rival": None, "bot": None, "do": None},
        {"source": None, "bot": None, "game": "partnership", "rival": "greedy", "do": "submit"},
        {"source": "pass", "game": "partnership", "rival": "greedy", "do": "again", "cards": None, "board": None},
        {"source": "pass", "game": "brisca", "rival": "greedy", "do": "series", "players": None, "mixture": None},
    ],
    "/editor/draft/": [
        {"draft": None, "source": "pass"},
        {"draft": "", "source": None},
        {"draft": None, "do": "discard"},
    ],
    "/play/": [
        {"game": None, "rival": "greedy", "level": None, "boards": "1"},
        {"game": "partnership", "rival": None, "partner": None, "boards": None},
    ],
    "/lobby/": [
        {"do": None},
        {"do": "challenge", "name": None},
        {"do": "withdraw", "name": None, "table": "x"},
        {"do": "decline", "table": None},
    ],
    "/t/new/?game=partnership": [
        {"name": None, "boards": "2"},
        {"name": "Cup", "boards": None},
        {"name": "Cup", "boards": "2", "bots": None},
        {"name": "Cup", "boards": "2", "format": None},
        {"name": "Cup", "boards": "2", "round_robin__cycles": None},
        {"name": "Cup", "boards": "2", "game": None, "players": None, "mixture": None},
        {"name": "Cup", "boards": "2", "due": None, "entries_from": None, "zone": None},
        {"name": "Cup", "boards": "2", "description": None, "private": "on"},
        {"name": "Cup", "boards": "2", "option_win_by": None, "option_match_games": None},
        {"name": "Cup", "boards": "2", "stage2_format": None, "groups": None, "advance": None},
        {"name": "Cup", "boards": "2", "format": "weekly", "days": None, "at": None, "size": None, "zone": None},
    ],
}


def stored_by_postgresql(owner, league) -> None:
    """SQLite keeps NUL in texts, PostgreSQL does not: none may be there."""
    league.rufo.bot.refresh_from_db()
    assert "\0" not in league.rufo.bot.description
    assert not [token for token in league.ana.tokens.all() if "\0" in token.label]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", HERE, ids=lambda text: ascii(text)[:12])
def test_no_input_breaks_a_page(wrong: str, league, owner) -> None:
    names = {"match": league.clean.public_id, "cup": league.next_cup.slug}
    for path, parameters in ASKED.items():
        for name in parameters:
            url = path.format(**names)
            answer = owner.get(f"{url}{'&' if '?' in url else '?'}{name}={quote(wrong)}")
            assert answer.status_code in (200, 302, 400, 404, 409, 422), (path, name)
    for place in PLACES:
        assert owner.get(place.format(quote(wrong[:200]), **names)).status_code in (200, 400, 404), place
    for path, forms in SENT.items():
        for form in forms:
            filled = {name: wrong if value is None else value for name, value in form.items()}
            answer = owner.post(path.format(**names), filled)
            assert answer.status_code in (200, 204, 302, 400, 403, 404, 422), (path, form)
    file = SimpleUploadedFile("rufo.py", f"# {wrong[:50]}\n".encode())
    assert owner.post("/submit/", {"bot": wrong, "file": file}).status_code in (302, 400, 422)
    stored_by_postgresql(owner, league)
