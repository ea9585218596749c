"""`tute login`, `submit`, `status`, `replay` and `repro` against a league that listens on a socket."""

from __future__ import annotations

import io
import json
import re
import stat
from pathlib import Path

import pytest
from django.core.cache import cache

from engine import cli
from engine.cli import remote, submit
from engine.client import League, LeagueError
from league.domain.bots import bots
from league.domain.core import transitions
from league.domain.matches import workers
from league.domain.people import players, tokens
from league.enums import MatchStatus, VersionStatus
from league.models import BotVersion, Fetch, Match
from tests.support import league as made

NAME = "rufo"


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of an author who has never signed in."""
    cache.clear()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TUTE_LEAGUE", "TUTE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log_in(url: str, token: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Log in with the token from a pipe."""
    monkeypatch.setattr("sys.stdin", io.StringIO(token + "\n"))
    return cli.main(["login", url])


def test_from_login_to_the_replay(live_server, at_home, monkeypatch, capsys) -> None:
    ana = players.create("ana", now=made.NOW)
    _, token = tokens.create(ana, "desk", scope="submit")
    (at_home / "rufo.py").write_bytes(made.BOT)

    assert log_in(f"{live_server.url}/games/", token, monkeypatch) == 0
    assert f"signed in at {live_server.url} as ana" in capsys.readouterr().out
    assert stat.S_IMODE(remote.leagues_file().stat().st_mode) == 0o600

    assert cli.main(["submit", "rufo.py", "--games", "Parejas", "--no-wait"]) == 0
    assert "rufo version 1: validating" in capsys.readouterr().out
    version = BotVersion.objects.get()
    assert (version.bot.slug, version.games) == (NAME, ["partnership"])

    for match in Match.objects.all():  # its validation: nobody plays here
        transitions.move(match, MatchStatus.CANCELLED, now=made.NOW)
    transitions.move(version, VersionStatus.ACCEPTED, now=made.NOW)
    monkeypatch.setattr(submit, "LOOK_S", 0.0)
    assert cli.main(["submit", "rufo.py", "--games", "partnership"]) == 0
    output = capsys.readouterr().out
    assert "rufo version 1: accepted" in output
    assert f"{live_server.url}/bots/rufo/" in output
    assert BotVersion.objects.count() == 1, "a repeat finds what was made"

    luna = made.accepted(players.create("berto", now=made.NOW), "luna")
    match = made.started(ana, [version, luna]).matches.get()
    made.play(match)

    assert cli.main(["status"]) == 0
    output = capsys.readouterr().out
    assert "ana at http://" in output
    assert "rufo  active" in output
    assert re.search("^uploads +1 ", output, re.MULTILINE), output
    assert cli.main(["status", NAME]) == 0
    output = capsys.readouterr().out
    assert "rufo of ana, active" in output
    assert "accepted" in output
    assert [match.public_id, "partnership", "finished", "luna"] in [line.split() for line in output.splitlines()]
    assert cli.main(["status", NAME, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"][0]["id"] == match.public_id

    assert cli.main(["replay", match.public_id, "--board", "1"]) == 0
    assert "rufo" in capsys.readouterr().out
    assert cli.main(["replay", match.public_id, "--log", "match.jsonl"]) == 0
    assert f"replays of {match.public_id} to match.jsonl" in capsys.readouterr().out
    assert cli.main(["verify", "match.jsonl"]) == 0
    assert "replays are valid" in capsys.readouterr().out

    assert cli.main(["login", live_server.url, "--forget"]) == 0
    assert cli.main(["status"]) == 2
    assert "no league is chosen" in capsys.readouterr().err


NAMES = {"my_bot": "my-bot", "Mi Señor Bot": "mi-senor-bot", "RUFO": "rufo", "rufo  2!": "rufo-2"}


def test_source_that_no_worker_builds_is_not_waited_for(live_server, at_home, monkeypatch, capsys) -> None:
    _, token = tokens.create(players.create("ana", now=made.NOW), "desk", scope="submit")
    log_in(live_server.url, token, monkeypatch)
    assert cli.main(["bot", "new", "rufo", "--language", "go"]) == 0
    workers.register("w:1", tier="landlock", builds=["c"])
    monkeypatch.setattr(submit.time, "sleep", lambda _: pytest.fail("it waits"))

    assert cli.main(["submit", "rufo"]) == 0
    output = capsys.readouterr().out
    assert (
        "rufo version 1: validating\n  no worker here builds go; the league builds now: c. Ask the operator" in output
    )
    assert "with golang-go, or upload a program" in output


def test_a_tag_of_a_repository_is_submitted(live_server, at_home, monkeypatch, capsys, settings) -> None:
    settings.GIT_HOSTS = ["forge.example"]
    url = "https://forge.example/ana/rufo.git"
    ana = players.create("ana", now=made.NOW)
    _, token = tokens.create(ana, "desk", scope="submit")
    log_in(live_server.url, token, monkeypatch)
    assert cli.main(["submit", "--git", f"{url}@v1", "--no-wait"]) == 0
    assert f"rufo: the league fetches {url} at v1" in capsys.readouterr().out

    ends = iter(({"why": "the repository has no tag v2"}, {"version": made.accepted(ana, NAME), "commit": "c" * 40}))
    monkeypatch.setattr(
        submit.time, "sleep", lambda _: Fetch.objects.filter(why="", version=None, tag__gt="v1").update(**next(ends))
    )
    assert cli.main(["submit", "--git", f"{url}@v2"]) == 1
    assert "has no tag v2" in capsys.readouterr().err
    assert cli.main(["submit", "--git", f"{url}@v3", "--folder", "bots/rufo"]) == 0
    assert "rufo version 1: accepted\n  commit cccc" in capsys.readouterr().out
    for words in (
        ["rufo.py", "--git", f"{url}@v1"],
        [],
        ["--git", url],
        ["--git", "@v1"],
        ["rufo.py", "--folder", "x"],
        ["--git", f"{url}@v1", "--games", "a_dos"],
    ):
        assert cli.main(["submit", *words]) == 2
    assert cli.main(["submit", "--git", "https://other.example/a/b@v1"]) != 0
    assert "fetches from forge.example only" in capsys.readouterr().err


def test_a_bot_is_entered_under_the_name_that_the_site_gives_it(live_server, at_home, monkeypatch, capsys) -> None:
    """The command and the page of uploads write a name in the same way, and the author may go on with their own."""
    ana = players.create("ana", now=made.NOW)
    berto = players.create("berto", now=made.NOW)
    _, token = tokens.create(ana, "desk", scope="submit")
    assert log_in(live_server.url, token, monkeypatch) == 0
    folder = at_home / "somewhere"
    folder.mkdir()
    for number, (name, slug) in enumerate(NAMES.items()):
        (folder / "bot.py").write_bytes(made.BOT + b"#" * number)
        (folder / "bot.toml").write_text(f'name = "{name}"\nruntime = "python"\nentry = "bot.py"\n', encoding="utf-8")
        capsys.readouterr()

        assert cli.main(["submit", "somewhere", "--no-wait"]) == 0
        assert f"{slug} version 1: validating" in capsys.readouterr().out
        assert cli.main(["status", name]) == 0
        assert f"{slug} of ana, active" in capsys.readouterr().out
        other = bots.upload(berto, f"{name} b", made.BOT + b"##" * number, "bot.py", now=made.NOW)
        assert other.bot.slug == f"{slug}-b", "as the site writes it"


def test_a_name_without_letters_and_digits_is_refused_with_a_way_out(live_server, at_home, monkeypatch, capsys) -> None:
    ana = players.create("ana", now=made.NOW)
    _, token = tokens.create(ana, "desk", scope="submit")
    assert log_in(live_server.url, token, monkeypatch) == 0
    (at_home / "rufo.py").write_bytes(made.BOT)

    assert cli.main(["submit", "rufo.py", "--as", "王"]) == 2
    assert "--as rufo-2" in capsys.readouterr().err
    assert bots.Bot.objects.count() == 0


def test_refusals_are_told_in_words(live_server, at_home, monkeypatch, capsys) -> None:
    ana = players.create("ana", now=made.NOW)
    _, reader = tokens.create(ana, "phone", scope="read")
    (at_home / "rufo.py").write_bytes(made.BOT)

    assert log_in(live_server.url, "tute_nobody", monkeypatch) == 2
    assert "the league refused this: " in capsys.readouterr().err
    assert not remote.leagues_file().exists()
    assert log_in(live_server.url, reader, monkeypatch) == 0
    assert cli.main(["submit", "rufo.py"]) == 2
    refusal = capsys.readouterr().err
    assert "the league refused this: " in refusal
    assert "(403)" not in refusal
    assert cli.main(["replay", "zzzzzzzzzz", "--log", "x.jsonl"]) == 2
    assert "has no match zzzzzzzzzz with public cards" in capsys.readouterr().err
    (at_home / "bad.zip").write_bytes(b"PK\x03\x04 nothing")
    assert cli.main(["submit", "bad.zip"]) == 1
    assert "bad.zip: the zip has no directory" in capsys.readouterr().err
    assert cli.main(["status", "nobody"]) == 2
    assert "It does not exist, or you may not see it." in capsys.readouterr().err
    assert bots.Bot.objects.count() == 0
    assert cli.main(["login", "http://tute.example"]) == 2
    assert "not encrypted" in capsys.readouterr().err
    assert cli.main(["status", "rufo", "--league", "http://127.0.0.1:9"]) == 3
    assert "cannot reach http://127.0.0.1:9" in capsys.readouterr().err


def test_a_token_follows_no_redirect(live_server, at_home) -> None:
    league = League(live_server.url, "tute_secret")

    with pytest.raises(LeagueError, match="redirects to"):
        league.ask("GET", "/accounts/requests/")
