"""A rules page as Markdown: Spanish first, then English."""

from __future__ import annotations

from pathlib import Path

from engine.game import declared, games
from engine.rulebook.deal import deal_steps
from engine.rulebook.table import lines, option_lines, ordinary
from engine.rulebook.trick import worked_trick
from engine.rulebook.words import HEADINGS, RULES, SUITS, card_name

PROSE = Path(__file__).with_name("prose")
LANGUAGES = ("es", "en")


def prose(key: str, lang: str) -> str:
    """Return the hand-written part of a page in one language; '' if the game has none."""
    path = PROSE / f"{key}.{lang}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def page(key: str, lang: str | None = None) -> str:
    """Return the page of a game in one language, or in both."""
    parts = [f"# {declared(key).title}"] if lang is None else []
    parts += [_part(key, language, lang is None) for language in LANGUAGES if lang in (None, language)]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """Return the list of the pages, and the rules of ordinary Tute that a page does not repeat."""
    parts = ["# Juegos / Games", *(HEADINGS[lang]["page_of_game"] for lang in LANGUAGES)]
    for lang in LANGUAGES:
        head = HEADINGS[lang]
        rows = [f"| {_name(key)} | {_players(key)} | {_line(key, lang)} | {declared(key).source} |" for key in games()]
        parts += [f"## {head['games']}", "\n".join([head["game_columns"], "| --- | --- | --- | --- |", *rows])]
    for lang in LANGUAGES:
        head = HEADINGS[lang]
        rows = [f"| {row.meaning} | {row.value} |" for row in ordinary(lang)]
        parts += [f"## {head['ordinary']}", head["ordinary_is"], "\n".join(["| | |", "| --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def _name(key: str) -> str:
    return f"{declared(key).title} (`{key}`)"


def _line(key: str, lang: str) -> str:
    return declared(key).line.get(lang, "")


def _players(key: str) -> str:
    return ", ".join(map(str, sorted(declared(key).players)))


def _part(key: str, lang: str, both: bool) -> str:
    head = HEADINGS[lang]
    title = f"## {head['language']}" if both else f"# {declared(key).title}"
    level = "###" if both else "##"
    players = f"{head['players']}: {_players(key)}. {head['source']}: {declared(key).source}."
    steps = [f"- **{step.name}.** {step.text}" for step in deal_steps(key, lang)]
    differences = [f"| {row.meaning} | **{row.value}** | {row.usual} |" for row in lines(key, lang)]
    options = [f"| `{row.name}` | {row.meaning} | {row.allowed} | {row.value} |" for row in option_lines(key, lang)]
    parts = [
        title, players, prose(key, lang) or _line(key, lang),
        f"{level} {head['deal']}", "\n".join(steps),
        f"{level} {head['trick']}", _trick(key, lang),
        f"{level} {head['differences']}",
        "\n".join([head["difference_columns"], "| --- | --- | --- |", *differences]) if differences else head["none"],
        f"{level} {head['options']}", head["by_table"],
        "\n".join([head["option_columns"], "| --- | --- | --- | --- |", *options]),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _trick(key: str, lang: str) -> str:
    head, suits = HEADINGS[lang], SUITS[lang]
    trick = worked_trick(key)
    trump = suits[trick.trump] if trick.trump else head["no_trump"]
    facts = f"{head['number'].format(trick.number)}; {head['trump']}: {trump}; {head['stock']}: {trick.stock}."
    follower = trick.example
    table, hand, legal = (
        ", ".join(card_name(card, lang) for card in cards) for cards in (follower.table, follower.hand, follower.legal)
    )
    drawn = "; ".join(f"{trick.player(seat, lang)}: {card_name(card, lang)}" for seat, card in trick.plays)
    chooser = trick.player(follower.seat, lang)
    image = f"![{drawn}. {head['picture'].format(chooser)}](img/{key}.svg)"
    ids = ["P1", *(follower.rule for follower in trick.followers)]
    rows = [
        f"| {trick.player(seat, lang)} | {card_name(card, lang)} (`{card}`) | {RULES[rule][lang == 'en']} ({rule}) |"
        for (seat, card), rule in zip(trick.plays, ids, strict=True)
    ]
    won = head["won"].format(trick.player(trick.winner, lang), trick.points)
    if trick.trump_after and trick.trump_after != trick.trump:
        won += f" {head['trump_after']}: {suits[trick.trump_after]}."
    won += "".join(f" {head['song'].format(trick.player(seat, lang), points)}" for seat, points in trick.songs)
    choice = head["choice"].format(chooser, table, hand) + " " + head["may"].format(legal, follower.rule)
    return "\n".join([facts, "", image, "", head["trick_columns"], "| --- | --- | --- |", *rows, "", won, "", choice])
