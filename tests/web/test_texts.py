"""Translations: complete, with the same gaps as their originals, and compiled as committed."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from django.utils.translation import gettext, override

from league.management.commands.compile_texts import LOCALES
from league.pure import catalogue
from league.web import words

SPANISH = LOCALES / "es" / "LC_MESSAGES" / "django.po"
GAP = re.compile(r"%\(\w+\)s|%s|%%|\{\w+\}")


@pytest.fixture(scope="module")
def entries() -> list[catalogue.Entry]:
    return catalogue.read(SPANISH.read_text(encoding="utf-8"))


def test_every_text_is_translated(entries) -> None:
    assert [entry.id for entry in entries if not entry.translated] == []
    assert len(entries) > 400


def test_translations_have_the_gaps_of_their_originals(entries) -> None:
    for entry in entries[1:]:
        for text in entry.strings:
            assert sorted(GAP.findall(text)) == sorted(GAP.findall(entry.plural or entry.id)), entry.id


def test_the_compiled_file_is_the_committed_one(entries) -> None:
    assert SPANISH.with_suffix(".mo").read_bytes() == catalogue.compiled(entries), "run manage.py compile_texts"


def test_every_text_of_the_code_and_the_templates_has_an_entry(entries) -> None:
    known = {entry.id for entry in entries}
    web = LOCALES.parent
    for path in web.glob("templates/**/*.html"):
        for text in re.findall(r'{%-? *translate "((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")):
            assert text.replace("%", "%%") in known or text in known, f"{path.name}: {text}"
    for path in [*web.glob("web/**/*.py"), web / "enums.py", web / "domain" / "formats.py"]:
        for text in re.findall(
            r'\b(?:_|gettext_noop|gettext)\(\s*"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")
        ):
            assert text in known, f"{path.name}: {text}"


def test_cards_are_named_in_both_languages() -> None:
    with override("es"):
        assert words.card_name("So") == "sota de oros"
        assert words.card_name("Re", article=True) == "el rey de espadas"
        assert gettext("Tute League") == "Liga de Tute"
    with override("en"):
        assert words.card_name("So") == "jack of coins"
        assert len(words.card_names()) == 40


def test_a_bad_catalogue_names_its_line() -> None:
    with pytest.raises(ValueError, match="line 2 is not a line"):
        catalogue.read('msgid "a"\nmsgstr "b\n')


def test_compile_texts_says_what_it_did(capsys) -> None:
    call_command("compile_texts")
    assert "es: " in capsys.readouterr().out
