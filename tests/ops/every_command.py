"""Carry out every command of docs/operations/ that ends by itself, in one process, each with arguments that let it work.

A program for the interpreter of tests.support.production: `every_command.py BOT FOLDER` makes players and two bots of the source BOT, waits until
workers have accepted them, and starts an event. It does the rest when that is played and FOLDER/boards.jsonl, its download, is there. Prints each
name before the command runs, and last, as JSON, which imports fail.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

EVENT = "name: Copa de dos\ngame: partnership\nstages: [{format: round_robin, boards: 1}]\n"
WHY = ["--why", "tried by a test"]
TRIED = [*WHY, "--dry-run"]


def before(bot: Path, folder: Path) -> Iterator[list[str]]:
    """Yield the commands that make a league, in order."""
    event, other = folder / "event.yaml", folder / "other.py"
    event.write_text(EVENT, encoding="utf-8")
    other.write_text(f"{bot.read_text()}# the same files are not taken twice\n")
    on_fridays = ["--game", "partnership", "--days", "fri", "--at", "20:00", "--zone", "Europe/Madrid"]
    yield from [
        ["migrate", "--check"],
        ["check", "--deploy"],
        ["collectstatic", "--noinput", "--dry-run", "--verbosity=0"],
        ["create_player", "ana", "--no-password"],
        ["create_player", "olga", "--staff", "--may", "void", "--no-password"],
        ["create_player", "irene", "--staff", "--no-password"],  # Only events of operators count for the ratings.
        ["set_password", "ana", "--password-stdin"],
        ["password_link", "ana"],
        ["create_token", "ana"],
        ["volunteer_key", "ana"],
        ["permit", "olga", "ban", *WHY],
        ["createsuperuser", "--noinput", "--username", "root", "--email", "root@league.test"],
        ["upload_bot", str(bot), "--player", "ana", "--game", "partnership", "--name", "rufo"],
        ["upload_bot", str(other), "--player", "olga", "--game", "partnership", "--name", "lola"],
    ]
    make_ready()
    yield from [
        ["create_circuit", "Viernes", "--owner", "ana", *on_fridays, "--bot", "rufo"],
        ["create_event", str(event), "--owner", "irene", "--bot", "rufo", "--bot", "lola"],
    ]


def make_ready() -> None:
    """Wait until workers have accepted all bots, which anybody may enter. Ends with a message if one is not."""
    from league.domain.bots import consent
    from league.models import Bot, BotVersion

    while BotVersion.objects.filter(status="validating").exists():
        time.sleep(0.2)
    if refused := list(BotVersion.objects.exclude(status="accepted").values("bot__slug", "fault", "fault_detail")):
        sys.exit(f"not accepted: {refused}")
    for bot in Bot.objects.all():
        consent.set_policy(bot, "anybody", actor=bot.owner.name)


def after(folder: Path) -> Iterator[list[str]]:
    """Yield the commands for a league that has played, in order: those that ask for much work come last."""
    from league.models import Match

    while not (folder / "boards.jsonl").exists():
        time.sleep(0.2)

    match, later = Match.objects.get(kind="tournament").public_id, "2099-01-01T00:00:00Z"
    yield from [
        ["check_invariants"],
        ["reconcile"],
        ["refresh_ratings", "--game", "partnership", "--rebuild", "--dry-run"],
        ["count_choices", "--game", "partnership", "--rebuild"],
        ["rate_boards", str(folder / "boards.jsonl")],
        ["dump", str(folder / "dump")],
        ["publish_data", "--month", "2026-01"],
        ["find_puzzles", "--seconds", "1"],
        ["keep_replays", "--dry-run"],
        ["repair", "--game", "partnership", "--revisions", "1..99", "--before", later, *TRIED],
        ["repair", "--replays", "--dry-run"],
        ["send_letters"],
        ["weekly_tournaments"],
        ["create_arena", "partnership", "--start", "2099-01-01T20:00"],
        ["set_quota", "ana", "boards", "500000", *TRIED],
        ["ban", "ana", *TRIED],
        ["unban", "ana", *TRIED],
        ["pause", "bot:rufo", *TRIED],
        ["resume", "bot:rufo", *TRIED],
        ["embargo", f"match:{match}", later, *TRIED],
        ["lift_embargo", f"match:{match}", *TRIED],
        ["hide_comment", "1", *TRIED],
        ["show_comment", "1", *TRIED],
        ["leave_comment", "1", *TRIED],
        ["close_audit", "1", "honest", *TRIED],
        ["reopen_case", "case:1", *TRIED],
        ["try_again", f"match:{match}", *TRIED],
        ["void_match", match, *TRIED],
        ["rerun_match", match, *TRIED],
        ["create_tournament", "Otra", "--owner=ana", "--game=partnership", "--boards=1", "--bot=rufo", "--bot=lola"],
        ["cancel_tournament", "otra", *TRIED],
        ["revalidate", "rufo"],
        ["enter_house", "random"],
    ]


# These need something that this league lacks, and say so: an audit, a bot that was rejected.
REFUSED = {
    **dict.fromkeys(("hide_comment", "show_comment", "leave_comment"), "comment"),
    "close_audit": "audit",
    "create_arena": "no house bot",
    "reopen_case": "case",
    "revalidate": "is accepted already",
}


def main() -> None:
    """Carry out the commands."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
    os.environ["DJANGO_SUPERUSER_PASSWORD"] = "a long password for a test"
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import django

    django.setup()
    from django.core.management import CommandError, call_command

    failed = []
    bot, folder = map(Path, sys.argv[1:])
    for name, *words in chain(before(bot, folder), after(folder)):
        print(name, flush=True)
        sys.stdin = io.StringIO("a long password for a test\n")
        try:
            call_command(name, *words, stdout=io.StringIO())
        except CommandError as error:
            if name not in REFUSED or REFUSED[name] not in str(error):
                failed.append(f"{name} {' '.join(words)}: {error}")
    if failed:
        sys.exit("\n".join(failed))
    from tests.ops.every_import import failures

    print(json.dumps(failures("hypothesis")))


if __name__ == "__main__":
    main()
