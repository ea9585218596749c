"""Templates can be read and compared: no line runs out of the window."""

from __future__ import annotations

import re

from django.conf import settings
from django.template.loader import get_template

TEMPLATES = settings.BASE_DIR / "league" / "templates"
MOST_COLUMNS = 160


def test_no_line_of_a_template_is_too_long() -> None:
    paths = sorted(TEMPLATES.glob("**/*.html"))
    long = [
        f"{path.relative_to(TEMPLATES)}:{number}: {len(line)} columns"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ]

    assert len(paths) > 30
    assert long == []


def test_every_template_knows_its_tags_and_filters() -> None:
    for path in TEMPLATES.glob("**/*.html"):
        get_template(str(path.relative_to(TEMPLATES)))


def test_what_the_base_names_hides_nothing_of_a_page() -> None:
    base = (TEMPLATES / "base.html").read_text(encoding="utf-8")

    names = re.findall(r" as (\w+) %}", base)

    assert "TABLES" in names
    assert [name for name in names if not name.isupper()] == []  # Names of pages are in small letters.
