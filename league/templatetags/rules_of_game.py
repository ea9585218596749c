"""The rules of a game for its page, from `engine.rulebook`."""

from __future__ import annotations

from functools import cache
from typing import Any

from django import template
from django.utils.translation import get_language

from engine import rulebook
from engine.game import declared
from engine.rulebook.words import HEADINGS, RULES, SUITS, card_name
from league.web.common import markdown

register = template.Library()


@register.simple_tag
def rules_of_game(key: str) -> dict[str, Any]:
    """Return the context of the rules: in Spanish for Spanish readers, in English for all others."""
    return _rules(key, "es" if (get_language() or "").startswith("es") else "en")


@cache
def _rules(key: str, lang: str) -> dict[str, Any]:
    head, trick = HEADINGS[lang], rulebook.worked_trick(key)
    question = trick.example
    ids = ["P1", *(follower.rule for follower in trick.followers)]
    won = [head["won"].format(trick.player(trick.winner, lang), trick.points)]
    if trick.trump_after and trick.trump_after != trick.trump:
        won.append(f"{head['trump_after']}: {SUITS[lang][trick.trump_after]}.")
    won += [head["song"].format(trick.player(seat, lang), points) for seat, points in trick.songs]
    trump = SUITS[lang][trick.trump] if trick.trump else head["no_trump"]
    return {
        "head": head,
        "source": f"{head['source']}: {declared(key).source}.",
        "prose": markdown.html(rulebook.prose(key, lang)),
        "steps": rulebook.deal_steps(key, lang),
        "facts": f"{head['number'].format(trick.number)}; {head['trump']}: {trump}; {head['stock']}: {trick.stock}.",
        "plays": [
            {
                "player": trick.player(seat, lang),
                "card": _card(card, lang),
                "why": f"{RULES[rule][lang == 'en']} ({rule})",
            }
            for (seat, card), rule in zip(trick.plays, ids, strict=True)
        ],
        "won": " ".join(won),
        "columns": _columns(head["trick_columns"]),
        "choice": head["choice"].format(
            trick.player(question.seat, lang), _names(question.table, lang), _names(question.hand, lang)
        ),
        "may": head["may"].format(_names(question.legal, lang), question.rule),
        "hand": [{**_card(card, lang), "legal": card in question.legal} for card in question.hand],
        "differences": rulebook.lines(key, lang),
        "difference_columns": _columns(head["difference_columns"]),
        "options": rulebook.option_lines(key, lang, codes=False),
    }


def _card(card: str, lang: str) -> dict[str, Any]:
    return {"text": card, "name": card_name(card, lang)}


def _names(cards: tuple[str, ...], lang: str) -> str:
    return ", ".join(card_name(card, lang) for card in cards)


def _columns(row: str) -> list[str]:
    return [name.strip() for name in row.strip().strip("|").split("|")]
