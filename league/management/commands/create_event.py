"""manage.py create_event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from league.domain.bots import consent
from league.domain.core.errors import Refused
from league.domain.tournaments import events
from league.management.base import LeagueCommand, find_player, find_version
from league.models import Event


class Command(LeagueCommand):
    """Create an event of several stages."""

    help = (
        "Create the event described in a file (docs/tournaments.md) and start its first stage. "
        "If an event of this name exists, nothing is created."
    )
    example = "manage.py create_event spring.yaml --owner ana --bot rufo --bot lola --bot nena:2"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, help="YAML or JSON")
        parser.add_argument("--owner", required=True)
        parser.add_argument("--bot", action="append", default=[], help="bot or bot:number; may be repeated")

    def run(self, **options: Any) -> None:
        """Read the file, create the event and print it."""
        owner = find_player(options["owner"])
        try:
            document = yaml.safe_load(options["file"].read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise Refused(f"{options['file']} cannot be read: {error}") from error
        name = document.get("name") if isinstance(document, dict) else None
        event = Event.objects.filter(owner=owner, name=name if isinstance(name, str) else "").first()
        if event is None:
            versions = [(text, find_version(text)) for text in options["bot"]]
            event = events.create(owner, document, [v if ":" in text else v.bot for text, v in versions])
        if owners := consent.names_asked(event):
            self.say(f"{event.slug}: open until its owner starts it; waiting for the owners of {owners}")
        for stage in event.tournaments.order_by("stage", "group"):
            self.say(
                f"{stage.slug}: stage {stage.stage}, {stage.format}, {stage.entries.count()} entries, {stage.status}"
            )
