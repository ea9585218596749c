"""`tute remote` against a league: it registers a bot of the line protocol, plays a match, and ends after it when asked to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from league.domain.bots import house
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import workers
from league.domain.people import tokens
from league.domain.remote import drawing
from league.models import BotVersion, Match, RemoteLink
from tests.support.league import accepted
from tests.support.processes import wait_for
from tests.support.remote import GAMES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
SHELL = """while read -r line; do
  case $line in
    hello*) echo ready ;;
    act*) legal=${line##*; legal }; echo "${legal%%, *}" ;;
  esac
done
"""


def test_the_command_plays_for_a_bot_of_the_line_protocol(live_server, worker: WorkerLoop, ana, tmp_path: Path) -> None:
    accepted(house.player(), "greedy", games=GAMES)
    workers.register(worker.name, tier="none")
    (tmp_path / "bot.sh").write_text(SHELL)
    words = ["remote", "--run", f"sh {tmp_path}/bot.sh", "--protocol", "line", "--as", "sheller", "--games", "brisca"]
    environment = os.environ | {"TUTE_TOKEN": tokens.create(ana, "test")[1], "TUTE_LEAGUE": live_server.url}
    with subprocess.Popen(
        [sys.executable, "-m", "engine.cli", *words], env=environment, start_new_session=True
    ) as command:
        try:
            wait_for(RemoteLink.objects.exists, "the connection", 60)
            assert drawing.play() == 1
            assert worker.remote.look()
            wait_for(lambda: Match.objects.filter(kind="remote", status="running").exists(), "the match", 60)
            os.killpg(command.pid, signal.SIGINT)  # As a terminal, which reaches the bot, too, if it is in the group.
            assert command.wait(400) == 130  # Eighty decisions, each of which crosses the network
        finally:
            command.kill()
    match = Match.objects.get(kind="remote")
    wait_for(lambda: Match.objects.get(pk=match.pk).status == "finished", "its end", 60)
    assert not match.parties.exclude(fault="").exists()
    assert RemoteLink.objects.get().matches == 0, "it said that it leaves"
    assert BotVersion.objects.get(bot__slug="sheller").status == "remote"
