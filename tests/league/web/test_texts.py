"""Translations: complete, with the same gaps as their originals, and compiled as committed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.utils.translation import gettext, override

from league.api.http.problems import KINDS
from league.domain.core.errors import Refused, shown
from league.enums import BotState
from league.management.commands.compile_texts import LOCALES
from league.pure.formats import FORMATS
from league.pure.refusal import Refusal
from league.service import catalogue
from league.web.common import words

SPANISH = LOCALES / "es" / "LC_MESSAGES" / "django.po"
GAP = re.compile(r"%\(\w+\)s|%s|%%|\{\w+[^}]*\}")
REFUSALS = {"Refused", "IllegalMove", "TooMany", "Refusal", "BadEvent", "Said"}


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
    for path in [*web.glob("web/**/*.py"), web / "enums.py", web / "domain" / "tournaments" / "formats.py"]:
        for text in re.findall(
            r'\b(?:_|gettext_noop|gettext)\(\s*"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")
        ):
            assert text in known, f"{path.name}: {text}"


def refusals() -> Iterator[tuple[str, ast.expr]]:
    """The first argument of every refusal of the domain and of the pure parts, with its place."""
    for folder in ("domain", "pure"):
        for path in (LOCALES.parent / folder).glob("**/*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id in REFUSALS
                    and node.args
                ):
                    yield f"{path.name}:{node.lineno}", node.args[0]


def test_every_refusal_is_a_sentence_with_gaps_and_translated(entries) -> None:
    known = {entry.id for entry in entries}
    found = list(refusals())
    whole = [(place, text.value) for place, text in found if isinstance(text, ast.Constant)]
    formats = [text for one in FORMATS.values() for text in (one.unseated, one.unmixed) if text]

    assert [place for place, text in found if isinstance(text, ast.JoinedStr)] == [], "values go beside the sentence"
    assert [(place, text) for place, text in whole if text not in known] == []
    assert [text for text in [*formats, *(t for kind in KINDS.values() for t in kind[1:])] if text not in known] == []
    assert len(whole) > 80


def test_a_refusal_is_english_as_text_and_shown_in_the_language_of_the_reader() -> None:
    inner = Refusal("{format} takes {most} entries at most, not {entries}", format="duel", most=2, entries=3)
    refusal = Refused("the tournament {tournament!r} cannot be started: {error}", tournament="Cup", error=inner)
    english = "the tournament 'Cup' cannot be started: duel takes 2 entries at most, not 3"

    with override("es"):
        assert str(refusal) == english
        assert shown(refusal) == "el torneo 'Cup' no se puede empezar: duel admite 2 inscritos como mucho, no 3"
        assert shown(Refused.from_error(inner)) == "duel admite 2 inscritos como mucho, no 3"
        assert shown(Refused.from_error(ValueError("a {brace} of the engine"))) == "a {brace} of the engine"
        late = Refused(
            "the bot {bot!r} is {state}; its owner can make it active again", bot="rufo", state=BotState.PAUSED.label
        )
        assert "en pausa" in shown(late) and "paused" in str(late)
    with override("en"):
        assert shown(refusal) == english


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
