"""A player's own data: complete, readable, without a secret and without anybody else's."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from engine.packages import archive
from league.domain.bots import bots, drafts, house, tries
from league.domain.people import exporting, tokens
from league.domain.tables import seating
from league.domain.tournaments import tournaments
from league.models import Match, PuzzleAnswer, Table
from tests.support.league import NOW, accepted, play, started, uploaded


def lines(packed: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in packed.read(f"{name}.jsonl").decode().splitlines()]


def test_it_has_everything_of_its_owner_and_nothing_of_others(ana, berto) -> None:
    accepted(house.player(now=NOW), "greedy")
    uploaded(ana, "rufo")
    play(Match.objects.get(status="queued"), now=NOW)
    trufo, otro = accepted(ana, "trufo"), accepted(berto, "otro")
    started(ana, [trufo, otro], name="Ana's cup")
    _, key = tokens.create(ana, "laptop", now=NOW)
    drafts.save(ana, drafts.NEW, "new = 1  # ñ", now=NOW)
    drafts.save(berto, drafts.NEW, "secret of berto", now=NOW)
    tries.begin(ana, "mine = 1", "partnership", "greedy", now=NOW)
    seating.sit(ana, "partnership", "greedy", boards=1, now=NOW)
    PuzzleAnswer.objects.create(player=ana, puzzle="p1", game="tute", answer="play 1o", solved=True, created=NOW)
    tournaments.create(berto, "Of berto", "partnership", boards=1, now=NOW)
    target = io.BytesIO()

    exporting.write(ana, target, site="https://league.example")

    packed = zipfile.ZipFile(target)
    assert packed.testzip() is None
    listed = [word for line in packed.read("README.txt").decode().splitlines() for word in line.split("   ")[:1]]
    files = {name for name in packed.namelist() if not name.startswith("bots/")} - {"README.txt"}
    assert files <= set(listed), "each file is explained"
    account = json.loads(packed.read("account.json"))
    assert account["open_data"] is None
    assert (account["name"], account["keys"][0]["label"]) == ("ana", "laptop")
    assert {row["bot"] for row in lines(packed, "bots")} == {"rufo", "trufo"}
    assert {row["bot_name"] for row in lines(packed, "versions")} == {"rufo", "trufo"}
    assert [row["text"] for row in lines(packed, "drafts")] == ["new = 1  # ñ"]
    assert [row["source"] for row in lines(packed, "tries")] == ["mine = 1"]
    assert [row["game"] for row in lines(packed, "tables")] == ["partnership"]
    assert [row["puzzle"] for row in lines(packed, "puzzles")] == ["p1"]
    assert [row["name"] for row in lines(packed, "contests")] == ["Ana's cup"]
    assert lines(packed, "checks")
    assert {row["kind"] for row in lines(packed, "journal")} == {"player.created", "token.created"}
    stored = packed.read("bots/trufo-v1.zip")
    assert (
        archive.read_stored(stored).files == archive.read_stored(bytes(bots.sent_version(trufo.bot).package.data)).files
    )
    whole = b"".join(packed.read(name) for name in packed.namelist())
    secrets = [
        bytes(Table.objects.defer(None).get().secret).hex(),
        key,
        "secret of berto",
        "Of berto",
        ana.user.password,
    ]
    assert [secret for secret in secrets if secret.encode() in whole] == []
