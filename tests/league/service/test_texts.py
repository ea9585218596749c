"""Translations: complete, with the same gaps as their originals, and written and compiled as committed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog
from django.core.management import call_command
from django.utils.translation import gettext, override

from league.domain.core.errors import Refused, shown
from league.enums import BotState
from league.pure.formats import FORMATS
from league.pure.refusal import Refusal
from league.service import texts
from league.web.common import words

SPANISH = texts.LOCALES / "es" / "LC_MESSAGES" / "django.po"
GAP = re.compile(r"%\(\w+\)s|%s|%%|\{\w+[^}]*\}")
REFUSALS = {"Refused", "IllegalMove", "TooMany", "Unreadable", "Missing", "Refusal", "BadEvent", "Message"}


@pytest.fixture(scope="module")
def spanish() -> Catalog:
    return texts.read_catalogue(SPANISH)


def test_every_text_with_a_gap_can_be_filled(spanish) -> None:
    """A percent sign beside a gap is written twice: "95 % sure" would be taken for another gap."""

    class Filled(dict[str, int]):
        def __missing__(self, _name: str) -> int:
            return 1

    for message in spanish:
        for text in [message.id, message.string]:
            for form in text if isinstance(text, list | tuple) else [text]:
                if "%(" in form:
                    assert form % Filled()


def test_every_text_is_translated(spanish) -> None:
    assert texts.untranslated_texts(spanish) == []
    assert len(spanish) > 700


def test_the_catalogue_is_fresh_and_compiled(spanish, capsys) -> None:
    """The committed catalogue is what `make texts` would write: no text is missing, none is left over."""
    call_command("texts", "--check")

    assert capsys.readouterr().out == f"es: {len(spanish)} texts, 0 new, 0 gone\n"
    assert SPANISH.read_bytes() == texts.catalogue_text(spanish)
    assert SPANISH.with_suffix(".mo").read_bytes() == texts.compiled_catalogue(spanish)


def test_new_texts_go_in_to_be_translated_and_gone_ones_go_out() -> None:
    here = Catalog(locale="es")
    here.add("stays", "se queda")
    here.add("goes", "se va")
    template = Catalog()
    template.add("stays")
    template.add(("comes", "come"))
    template.add("stays", context="another meaning")

    counts = texts.update_catalogue(here, template)

    assert counts == (2, 1)
    assert [(message.context, message.id) for message in here if message.id] == [
        (None, "stays"),
        (None, ("comes", "come")),
        ("another meaning", "stays"),
    ]
    assert here["stays"].string == "se queda"
    assert texts.untranslated_texts(here) == ["comes", "stays"]


def test_texts_of_templates_code_and_formats_are_found(spanish) -> None:
    """The catalogue is what is found in the code, which the test above says."""
    expected = [
        "Tute League",
        "paused",
        "Page not found",
        *(form.sentence for form in FORMATS.values()),
    ]
    expected += [parameter.help for form in FORMATS.values() for parameter in form.parameters]
    expected += [text for form in FORMATS.values() for text in (form.title, form.unseated, form.unmixed) if text]

    assert [text for text in expected if text not in spanish] == []


def test_translations_have_the_gaps_of_their_originals(spanish) -> None:
    for message in spanish:
        if not message.id:
            continue
        originals = [message.id] if isinstance(message.id, str) else list(message.id)
        of_many = sorted(GAP.findall(originals[-1]))
        *singular, plural = [message.string] if isinstance(message.string, str) else message.string
        assert sorted(GAP.findall(plural)) == of_many, originals
        assert set(GAP.findall("".join(singular))) <= set(of_many), originals  # "the first trick" needs no number


def refusals() -> Iterator[tuple[str, ast.expr]]:
    """The first argument of every refusal of the domain and of the pure parts, with its place."""
    for folder in ("domain", "pure"):
        for path in (texts.LEAGUE / folder).glob("**/*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id in REFUSALS
                    and node.args
                ):
                    yield f"{path.name}:{node.lineno}", node.args[0]


def test_every_refusal_is_a_sentence_with_gaps_and_translated(spanish) -> None:
    sentences = list(refusals())
    whole = [(place, text.value) for place, text in sentences if isinstance(text, ast.Constant)]

    assert [place for place, text in sentences if isinstance(text, ast.JoinedStr)] == [], (
        "values go beside the sentence"
    )
    assert [(place, text) for place, text in whole if text not in spanish] == []
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
        assert "en pausa" in shown(late)
        assert "paused" in str(late)
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


def test_a_file_that_is_no_catalogue_is_refused_by_name(tmp_path) -> None:
    path = tmp_path / "es" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    path.write_text('msgid "a"\nnonsense\n')

    with pytest.raises(ValueError, match=r"django\.po is no catalogue"):
        texts.read_catalogue(path)
