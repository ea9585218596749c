"""manage.py texts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from league.management.base import LeagueCommand
from league.service import texts


class Command(LeagueCommand):
    """Update the translations."""

    help = (
        "Update the catalogues from code and templates and compile them: add new texts, to be translated, and remove old ones. "
        "Exit code 1 while a translation is missing. Needs Babel from the development environment (make texts)."
    )
    example = "manage.py texts"

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--check", action="store_true", help="change nothing; exit code 1 if something would change"
        )

    def run(self, **options: Any) -> None:
        """Update and compile, and list missing translations."""
        extracted = texts.extract_texts()
        for path in texts.catalogue_paths():
            language, catalogue = path.parts[-3], texts.read_catalogue(path)
            fresh, gone = texts.update_catalogue(catalogue, extracted)
            written = {
                path: texts.catalogue_text(catalogue),
                path.with_suffix(".mo"): texts.compiled_catalogue(catalogue),
            }
            stale = [file for file, data in written.items() if not file.exists() or file.read_bytes() != data]
            if stale and options["check"]:
                raise CommandError(
                    f"{', '.join(file.name for file in stale)} of {language} would change: run make texts"
                )
            for file in stale:
                file.write_bytes(written[file])
            self.say(f"{language}: {len(catalogue)} texts, {fresh} new, {gone} gone")
            if missing := texts.untranslated_texts(catalogue):
                listed = "".join(f"\n  {text!r}" for text in missing)
                raise CommandError(f"{path} lacks {len(missing)} translations; add them and run this again:{listed}")
