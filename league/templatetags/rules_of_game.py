"""The rules of a game for its page, from `engine.rulebook`, in the reader's language."""

from __future__ import annotations

from functools import cache
from typing import Any

from django import template
from django.utils.translation import get_language

from engine import rulebook
from engine.rulebook.words import HEADINGS, RULES, SUITS
from league.web import markdown

register = template.Library()


@register.simple_tag
def rules_of_game(key: str) -> dict[str, Any]:
    """What the include shows. Spanish for Spanish readers, English for all others."""
    return _rules(key, "es" if (get_language() or "").startswith("es") else "en")


@cache
def _rules(key: str, lang: str) -> dict[str, Any]:
    head, trick = HEADINGS[lang], rulebook.worked_trick(key)
    told = trick.told
    first = {"seat": trick.plays[0][0], "card": trick.plays[0][1], "rule": "P1", "why": RULES["P1"][lang == "en"]}
    rest = [
        {"seat": one.seat, "card": one.card, "rule": one.rule, "why": RULES[one.rule][lang == "en"]}
        for one in trick.followers
    ]
    won = [head["won"].format(trick.winner, trick.points)]
    if trick.trump_after and trick.trump_after != trick.trump:
        won.append(f"{head['trump_after']}: {SUITS[lang][trick.trump_after]}.")
    won += [head["song"].format(seat, points) for seat, points in trick.songs]
    trump = SUITS[lang][trick.trump] if trick.trump else head["no_trump"]
    return {
        "head": head,
        "prose": markdown.html(rulebook.prose(key, lang)),
        "facts": f"{head['number'].format(trick.number)}; {head['trump']}: {trump}; {head['stock']}: {trick.stock}.",
        "plays": [first, *rest],
        "won": " ".join(won),
        "columns": _columns(head["trick_columns"]),
        "choice": head["legal"].format(told.seat, " ".join(told.table), " ".join(told.hand), told.rule),
        "legal": told.legal,
        "differences": rulebook.lines(key, lang),
        "difference_columns": _columns(head["difference_columns"]),
        "options": rulebook.option_lines(key, lang),
        "option_columns": _columns(head["option_columns"]),
    }


def _columns(row: str) -> list[str]:
    return [name.strip() for name in row.strip("| ").split("|")]
