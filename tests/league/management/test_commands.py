"""Every job by hand: idempotent, with help and an example, plain refusals, exit codes that mean something."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command, get_commands, load_command_class

from league.domain.bots import house
from league.domain.people import tokens
from league.domain.ratings import ratings
from league.management.base import LeagueCommand
from league.models import ApiToken, BotVersion, LeagueEvent, Match, Player, Rating, Tournament
from tests.support.league import BOT, NOW, accepted, play, started
from tests.support.parts import mostly_slow

COMMANDS = sorted(name for name, app in get_commands().items() if app == "league")
OURS = [name for name in COMMANDS if isinstance(load_command_class("league", name), LeagueCommand)]


def said(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue().strip()


@pytest.mark.parametrize("name", OURS)
def test_help_has_an_example(name: str) -> None:
    text = load_command_class("league", name).create_parser("manage.py", name).format_help()

    assert f"manage.py {name}" in text.partition("example:")[2]


def test_create_player_and_token(db) -> None:
    assert said("create_player", "ana", "--no-password") == "created the player ana"
    assert said("create_player", "ana", "--no-password") == "the player ana exists already"
    key = said("create_token", "ana", "--label", "laptop")

    assert tokens.authenticate(key, now=NOW).player.name == "ana"
    assert ApiToken.objects.get().label == "laptop"
    assert LeagueEvent.objects.get(kind="token.created").actor == "operator"
    with pytest.raises(CommandError, match="there is no player 'eva'; create one with"):
        said("create_token", "eva")
    with pytest.raises(CommandError, match="cannot be used"):
        said("create_player", "Ana María", "--no-password")


def test_set_quota(ana) -> None:
    expected = "done:\n  ana: bots 0 of 50 (before: 30); the default is 30"
    assert said("set_quota", "ana", "bots", "50", "--why", "a class") == expected
    assert said("set_quota", "ana", "bots", "50", "--why", "a class") == "done:\n  no change: already in that state"
    assert said("set_quota", "ana", "bots", "default", "--why", "over").endswith(
        "0 of 30 (before: 50); the default is 30"
    )
    with pytest.raises(CommandError, match="a limit is a whole number, 0 or more, not x"):
        said("set_quota", "ana", "bots", "x", "--why", "a class")


def test_upload_bot_takes_files_and_folders(ana, tmp_path: Path) -> None:
    file = tmp_path / "rufo.py"
    file.write_bytes(BOT)
    folder = tmp_path / "lola"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "Lola"\nruntime = "python"\nentry = "main.py"\ngames = ["corriente"]\n')
    (folder / "main.py").write_bytes(BOT)

    assert said("upload_bot", str(file), "--player", "ana", "--game", "partnership").startswith(
        "uploaded rufo v1 (partnership, "
    )
    assert said("upload_bot", str(folder), "--player", "ana").startswith("uploaded lola v1 (corriente, ")
    with pytest.raises(CommandError, match="these exact files already, as rufo v1"):
        said("upload_bot", str(file), "--player", "ana", "--game", "partnership")
    with pytest.raises(CommandError, match="cannot be read"):
        said("upload_bot", str(tmp_path / "nothing.py"), "--player", "ana")


def test_create_tournament_completes_and_does_not_double(ana, berto) -> None:
    accepted(ana, "rufo")
    accepted(berto, "lola")
    words = ("create_tournament", "Cup", "--owner", "ana", "--game", "partnership", "--boards", "2", "--bot", "rufo")

    assert said(*words) == "cup: partnership, 1 entries, 0 matches of 2 boards, open"
    assert said(*words, "--bot", "lola:1", "--start") == "cup: partnership, 2 entries, 1 matches of 2 boards, running"
    with pytest.raises(CommandError, match="only while it is open"):
        said(*words)

    assert Tournament.objects.count() == 1
    with pytest.raises(CommandError, match="must be written as name=value"):
        said("create_tournament", "Other", "--owner", "ana", "--game", "partnership", "-o", "target")
    with pytest.raises(CommandError, match=r"'random'; to upload this house bot, run: manage\.py enter_house random"):
        said("create_tournament", "Other", "--owner", "ana", "--game", "partnership", "--bot", "random")
    with pytest.raises(CommandError, match="there is no version 'rufo:7'; /bots/ lists all bots"):
        said("create_tournament", "Other", "--owner", "ana", "--game", "partnership", "--bot", "rufo:7")


def test_repair_commands(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    match = play(cup.matches.get())

    assert said("reconcile").startswith(
        "expired 0, unjudged 0, unheld 0, abandoned 0, arenas 0, removed 0, inserted 0, finished 1, opened 0, measured 0, cancelled 0, "
        "stored 0, suspected 0, refreshed 1"
    )
    assert said("reconcile").startswith(
        "expired 0, unjudged 0, unheld 0, abandoned 0, arenas 0, removed 0, inserted 0, finished 0, opened 0, measured 0, cancelled 0, "
        "stored 1, suspected 0, refreshed 0"
    )
    assert said("refresh_ratings", "--rebuild", "--game", "partnership").endswith("1 pools refitted from their boards")
    with pytest.raises(CommandError, match="works only with --rebuild"):
        said("refresh_ratings", "--dry-run")
    assert said("refresh_ratings").endswith("pools checked, 0 changed")
    assert Rating.objects.count() == 2
    look = said("void_match", match.public_id, "--why", "broken rules", "--dry-run")
    assert look.startswith("nothing was changed; without --dry-run this would happen:\n")
    assert "-> –" in look
    assert Rating.objects.count() == 2
    output = said("void_match", match.public_id, "--why", "broken rules")
    assert output.splitlines()[1:] == look.splitlines()[1:]
    assert f"voided: 1 ({match.public_id})" in output
    assert said("void_match", match.public_id, "--why", "broken rules").endswith("no change: already in that state")
    assert (Rating.objects.count(), ratings.stale_pools()) == (0, [])
    with pytest.raises(CommandError, match="there is no match"):
        said("void_match", "nothing", "--why", "x")


def test_revalidate(ana) -> None:
    version = accepted(ana, "rufo")
    with pytest.raises(CommandError, match="accepted already"):
        said("revalidate", "rufo")
    BotVersion.objects.filter(pk=version.pk).update(status="rejected")

    assert said("revalidate", "rufo:1") == "rufo v1: its validation is queued"


def test_enter_house_uploads_once(db) -> None:
    first = said("enter_house").splitlines()

    assert first == [f"{name} v1: uploaded, validating" for name in sorted(p.parent.name for p in house_folders())]
    assert said("enter_house").replace("unchanged", "uploaded").splitlines() == first
    assert set(Player.objects.values_list("name", flat=True)) == {"house"}
    assert all(bot.is_house for bot in Player.objects.get().bots.all())
    assert Match.objects.filter(kind="validation").count() == len(first)


def test_enter_house_uploads_those_that_are_named(db) -> None:
    with pytest.raises(
        CommandError, match=r"no house bot is called 'gredy'; choose one of champion, counting, deep, greedy, random$"
    ):
        said("enter_house", "random", "gredy")
    assert not BotVersion.objects.exists()

    assert said("enter_house", "random", "greedy").splitlines() == [
        "greedy v1: uploaded, validating",
        "random v1: uploaded, validating",
    ]


def house_folders() -> list[Path]:
    return list((settings.BASE_DIR / house.FOLDER).glob("*/bot.toml"))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    mostly_slow(
        [
            (["worker", "--slots", "0"], 1, "--slots must be at least 1"),
            (["serve", "--slots", "-1"], 1, "--slots must be at least 0"),
            (["worker", "--speed"], 2, "unrecognized arguments"),
        ],
        lambda case: case[1] == 2,
    ),
)
def test_exit_codes(words: list[str], code: int, message: str) -> None:
    process = subprocess.run(
        [sys.executable, "manage.py", *words], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=60
    )

    assert (process.returncode, message in process.stderr) == (code, True)


def test_create_tournament_of_another_format(ana, berto) -> None:
    accepted(ana, "rufo")
    accepted(berto, "lola")
    words = ("create_tournament", "Cup", "--owner", "ana", "--game", "partnership", "--bot", "rufo", "--bot", "lola")

    output = said(*words, "--format", "duel", "--set", "cap=8", "--boards", "2", "--start")

    assert output == "cup: partnership, 2 entries, 1 matches of 2 boards, running"
    with pytest.raises(CommandError, match="exists and is a duel of partnership"):
        said(*words)
    with pytest.raises(CommandError, match="cap must be a whole number from 1 to 100000, not 0"):
        said(
            "create_tournament", "Bad", "--owner", "ana", "--game", "partnership", "--format", "duel", "--set", "cap=0"
        )


def test_create_event_reads_a_file_and_does_not_double(ana, berto, tmp_path) -> None:
    for number, owner in enumerate((ana, berto, ana)):
        accepted(owner, f"bot{number}")
    file = tmp_path / "spring.yaml"
    file.write_text(
        "name: Spring\ngame: partnership\nstages: [{format: swiss, boards: 1, advance: 2}, {format: duel}]\n"
    )
    words = ("create_event", str(file), "--owner", "ana", "--bot", "bot0", "--bot", "bot1", "--bot", "bot2:1")

    assert said(*words) == "spring-stage-1: stage 1, swiss, 3 entries, running"
    assert said(*words) == "spring-stage-1: stage 1, swiss, 3 entries, running"

    file.write_text("name: Other\ngame: partnership\nstages: [{format: chess}]\n")
    with pytest.raises(CommandError, match=r"stages\[0\].format: there is no format 'chess'"):
        said(*words)
    file.write_text("name: [")
    with pytest.raises(CommandError, match="cannot be read"):
        said(*words)


def test_create_circuit_says_when_the_next_season_is_due(ana) -> None:
    accepted(ana, "rufo")
    words = ("create_circuit", "Liga", "--owner", "ana", "--game", "partnership", "--at", "20:00", "--zone", "UTC")

    assert re.fullmatch(
        r"liga: 1 bots, next season due \d{4}-\d\d-\d\d 20:00 UTC", said(*words, "--days", "fri", "--bot", "rufo")
    )
    with pytest.raises(CommandError, match="days are weekdays"):
        said(
            "create_circuit",
            "Other",
            "--owner",
            "ana",
            "--game",
            "partnership",
            "--at",
            "20:00",
            "--zone",
            "UTC",
            "--days",
            "x",
        )
