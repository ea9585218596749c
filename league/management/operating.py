"""Commands of operators, each made from its line in the table (league.domain.operators.actions)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import translation

from league.domain.core.errors import shown
from league.domain.operators import acting
from league.domain.operators.actions import Action
from league.management.base import LeagueCommand, find_player


class ActionCommand(LeagueCommand):
    """Subclasses name their `action`. Fields that it needs stand after the subject, the others are options."""

    action: Action

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Help and example are those of the table."""
        with translation.override("en"):
            self.help = (
                f"{shown_text(self.action.title)}. {shown_text(self.action.sentence)} --dry-run shows what it would do."
            )
        self.example = (
            f"manage.py {self.action.command} {self.action.example} --why 'a reason that everybody may read' --dry-run"
        )
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        forms = {"match": "a match by its id", "tournament": "a tournament", "event": "an event", "bot": "a bot"}
        kinds = " or ".join(f"{kind}:NAME" for kind in self.action.kinds) if len(self.action.kinds) > 1 else ""
        told = kinds or forms.get(self.action.kinds[0], f"a {self.action.kinds[0]}")
        parser.add_argument("subject", nargs="+" if self.action.many else 1, help=told)
        for field in self.action.fields:
            name = field.name if field.required else f"--{field.name}"
            parser.add_argument(name, help=", ".join(field.choices) or field.help)
        parser.add_argument("--why", required=True, help="for the journal, and for those whom it concerns")
        parser.add_argument(
            "--by", metavar="PLAYER", help="act as this operator, by their rights; without it as who has the machine"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and change nothing")

    def run(self, **options: Any) -> None:
        """Do it, and tell what came of it."""
        given = {field.name: options[field.name] or "" for field in self.action.fields}
        by = find_player(options["by"]) if options["by"] else None
        found = acting.act(
            self.action.name, options["subject"], given, why=options["why"], operator=by, dry_run=options["dry_run"]
        )
        self.say("nothing was changed; this would be done:" if options["dry_run"] else "done:")
        with translation.override("en"):
            for effect in found.effects:
                self.say(f"  {shown(effect)}")
        if not found.effects:
            self.say("  nothing: all is so already")


def shown_text(text: str) -> str:
    """A text of the table as a sentence of the help."""
    return text.rstrip(".").replace("%", "%%")
