"""A tournament format is one file: put into a copy of the league, it is played, offered and named everywhere without another line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import migrated

ROOT = Path(__file__).resolve().parents[4]

FILE = '''"""Single table: all entries at the tables of one cycle, once."""

from __future__ import annotations

from league.pure.formats.base import Format, Outcome, Parameter, Size
from league.pure.formats.ranks import rank_by_points
from league.pure.formats.sheet import Field, Sheet
from league.pure.pairing import movements
from league.pure.refusal import translatable


def play(field: Field, sheet: Sheet) -> Outcome:
    for number, tables in enumerate(movements.movement(field.entries, field.seats, mixed=field.mixed), 1):
        for table in tables:
            sheet.seat(number, table, field.number("heat"))
    return Outcome(not sheet.waiting, lambda: rank_by_points(field, sheet))


def size(field: Field) -> Size:
    matches = movements.movement_size(field.entries, field.seats, mixed=field.mixed)
    boards = matches * field.number("heat")
    return Size((matches, matches), (boards, boards))


FORMAT = Format(
    key="sprint",
    title=translatable("sprint"),
    sentence=translatable("Everybody meets everybody once, for a few boards."),
    play=play,
    size=size,
    parameters=(Parameter(name="heat", default=2, low=1, high=9, help=translatable("Boards of each match.")),),
    follows=lambda field: False,
)
'''

ASK = """
import json
import django
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
django.setup()
from django.core.management import call_command
from django.test import Client
call_command("makemigrations", check=True, dry_run=True, verbosity=0)
from league.domain.core import clock
from league.domain.people import players
from league.domain.tournaments import formats, tournaments
from league.management.commands.create_tournament import Command
from league.pure.calendar.event_plan import read_plan
from league.service import texts
owner = players.create("ana")
made = tournaments.create(owner, "Cup", "partnership", format="sprint", parameters={"heat": 3})
client = Client(headers={"accept-language": "en"})
client.force_login(owner.user)
offered = client.get("/api/v1/formats", headers={"accept": "application/json"}).json()
print(json.dumps({
    "api": [one for one in client.get("/api/v1/formats").json() if one["key"] == "sprint"],
    "document": "sprint" in client.get("/api/v1/schema", headers={"accept": "application/json"}).content.decode(),
    "form": client.get("/t/new/?game=partnership").content.decode().count("Everybody meets everybody once"),
    "command": "sprint" in Command().create_parser("manage.py", "create_tournament").format_help(),
    "stored": [made.format, made.get_format_display(), made.parameters],
    "event": read_plan({"name": "E", "game": "partnership", "stages": [{"format": "sprint"}]}).stages[0].format,
    "texts": [text for text in ("sprint", "Boards of each match.") if text in texts.extract_texts()],
}))
"""


@pytest.mark.slow
def test_a_file_in_the_folder_of_formats_is_a_format_everywhere(tmp_path: Path) -> None:
    for name in ("league", "engine", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("locale"))
    shutil.copy(ROOT / "manage.py", tmp_path)
    (tmp_path / "league/pure/formats/sprint.py").write_text(FILE)
    (tmp_path / "var").mkdir()
    shutil.copyfile(migrated.sqlite_file(), tmp_path / "var" / "league.sqlite3")

    settings = {"DJANGO_SETTINGS_MODULE": "league.settings", "STATE_DIR": str(tmp_path / "var"), "DEBUG": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", ASK], cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=120
    )

    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    [offered] = report.pop("api")
    assert offered["text"] == "Everybody meets everybody once, for a few boards."
    assert [(parameter["name"], parameter["text"]) for parameter in offered["parameters"]] == [
        ("heat", "Boards of each match.")
    ]
    assert report.pop("form") > 0
    assert report == {
        "document": True,
        "command": True,
        "stored": ["sprint", "sprint", {"heat": 3}],
        "event": "sprint",
        "texts": ["sprint", "Boards of each match."],
    }
