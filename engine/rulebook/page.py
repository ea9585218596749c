"""A rules page as Markdown: Spanish first, then English. `docs/games/*.md` are its output."""

from __future__ import annotations

from pathlib import Path

from engine.game import declared, games
from engine.rulebook.table import lines, option_lines
from engine.rulebook.trick import worked_trick
from engine.rulebook.words import HEADINGS, RULES, SUITS

PROSE = Path(__file__).parents[2] / "docs" / "games" / "prose"
LANGUAGES = ("es", "en")


def prose(key: str, lang: str) -> str:
    """The hand-written part of a page in one language; '' where the documents are not installed."""
    path = PROSE / f"{key}.{lang}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def page(key: str, lang: str | None = None) -> str:
    """The page of a game in one language, or in both."""
    parts = [f"# {declared(key).title}"] if lang is None else []
    parts += [_part(key, one, lang is None) for one in LANGUAGES if lang in (None, one)]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The list of the pages."""
    rows = [f"| [{declared(key).title}]({key}.md) | {_players(key)} | {declared(key).source} |" for key in games()]
    head = "# Juegos / Games\n\n| juego / game | jugadores / players | fuente / source |\n| --- | --- | --- |\n"
    return head + "\n".join(rows) + "\n"


def _players(key: str) -> str:
    return ", ".join(map(str, sorted(declared(key).players)))


def _part(key: str, lang: str, both: bool) -> str:
    head = HEADINGS[lang]
    title = f"## {head['language']}" if both else f"# {declared(key).title}"
    level = "###" if both else "##"
    players = f"{head['players']}: {_players(key)}. {head['source']}: {declared(key).source}."
    differences = [f"| `{one.name}` | **{one.value}** | {one.usual} | {one.meaning} |" for one in lines(key, lang)]
    options = [f"| `{one.name}` | {one.allowed} | {one.value} | {one.meaning} |" for one in option_lines(key, lang)]
    parts = [
        title, players, prose(key, lang),
        f"{level} {head['trick']}", _trick(key, lang),
        f"{level} {head['differences']}", head["by_table"],
        "\n".join([head["difference_columns"], "| --- | --- | --- | --- |", *differences]) if differences else head["none"],
        f"{level} {head['options']}",
        "\n".join([head["option_columns"], "| --- | --- | --- | --- |", *options]),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _trick(key: str, lang: str) -> str:
    head, suits = HEADINGS[lang], SUITS[lang]
    trick = worked_trick(key)
    trump = suits[trick.trump] if trick.trump else head["no_trump"]
    facts = f"{head['number'].format(trick.number)}; {head['trump']}: {trump}; {head['stock']}: {trick.stock}."
    rows = [f"| {trick.plays[0][0]} | `{trick.plays[0][1]}` | P1 | {RULES['P1'][lang == 'en']} |"]
    rows += [f"| {one.seat} | `{one.card}` | {one.rule} | {RULES[one.rule][lang == 'en']} |" for one in trick.followers]
    won = head["won"].format(trick.winner, trick.points)
    if trick.trump_after and trick.trump_after != trick.trump:
        won += f" {head['trump_after']}: {suits[trick.trump_after]}."
    won += "".join(f" {head['song'].format(seat, points)}" for seat, points in trick.songs)
    told = trick.told
    hand = " ".join(f"**`{card}`**" if card in told.legal else f"`{card}`" for card in told.hand)
    table = " ".join(f"`{card}`" for card in told.table)
    choice = head["choice"].format(told.seat, table, hand, told.rule)
    return "\n".join([facts, "", head["trick_columns"], "| --- | --- | --- | --- |", *rows, "", won, "", choice])
