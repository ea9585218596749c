"""`manage.py compile_texts`: .po to .mo without GNU gettext, so that a fresh machine needs nothing."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from league.service import catalogue

LOCALES = Path(__file__).resolve().parents[2] / "locale"


class Command(BaseCommand):
    help = "Compile the translations of league/locale. Example: manage.py compile_texts"

    def handle(self, *args: object, **options: object) -> None:
        for path in sorted(LOCALES.glob("*/LC_MESSAGES/django.po")):
            entries = catalogue.read(path.read_text(encoding="utf-8"))
            missing = [entry.id for entry in entries if not entry.translated]
            if missing:
                raise CommandError(
                    f"{path.parent.parent.name} lacks {len(missing)} texts, the first is {missing[0]!r}; add them"
                )
            path.with_suffix(".mo").write_bytes(catalogue.compiled(entries))
            self.stdout.write(f"{path.parent.parent.name}: {len(entries) - 1} texts")
