"""The tab of a game with the explorer: what bots call, lead first and sing with each type of hand, how often, and what it brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import engine
from engine.choices import KINDS
from league.domain.bots import choices
from league.domain.ratings import pools
from league.models import ChoiceSum, Pool
from league.web.common import choice_words as words
from league.web.common.inputs import whole_number
from league.web.common.words import percent, unit_name
from league.web.games.lab import WIDTH, LabCell


@dataclass(frozen=True)
class ExplorerRow:
    """A choice: its share and what it brings, each with its bar, and its share in each rating band that the page shows."""

    name: str
    is_marked: bool
    number: int
    matches: int
    share: LabCell
    mean: LabCell
    bands: list[str]


@dataclass(frozen=True)
class Option:
    """An entry of a filter. `number`: how many choices are behind it."""

    value: str | int
    name: str
    number: int


@dataclass
class Explorer:
    """The explorer of a pool at one kind of choice, type of hand and rating band. `hidden`: choices with too few matches or bots."""

    unit: str
    kinds: list[Option]
    kind: str = ""
    hands: list[Option] = field(default_factory=list)
    hand: str = ""
    hand_name: str = ""
    bands: list[Option] = field(default_factory=list)
    band: int = choices.EVERY_BOT
    rows: list[ExplorerRow] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    number: int = 0
    matches: int = 0
    hidden: int = 0
    least_matches: int = choices.LEAST_MATCHES
    least_bots: int = choices.LEAST_BOTS


def explorer_of(pool: Pool | None, query: Mapping[str, str]) -> Explorer | None:
    """Return the explorer at the place that `?kind=`, `?hand=`, `?band=` and `?choice=` name; None if nothing is counted. Two queries."""
    if pool is None or not pools.is_known(pool):
        return None
    game = pools.game_of(pool)
    heads = [row for row in choices.sums(pool, band=choices.EVERY_BOT, choice=choices.EVERY) if choices.is_shown(row)]
    totals = {row.kind: row for row in heads if row.hand == choices.EVERY}
    kinds = [Option(kind, words.kind_name(kind), totals[kind].number) for kind in KINDS if kind in totals]
    if not kinds:
        return None
    unit = unit_name("marks" if game.score_unit == "rank" else game.score_unit)
    page = Explorer(unit, kinds)
    page.kind = next((str(kind.value) for kind in kinds if kind.value == query.get("kind")), str(kinds[0].value))
    hands = [row for row in heads if row.kind == page.kind]
    page.hands = [Option(row.hand, words.hand_name(game, row.hand), row.number) for row in hands]
    page.hand = next((row.hand for row in hands if row.hand == query.get("hand")), choices.EVERY)
    page.hand_name = words.hand_name(game, page.hand)
    band = whole_number(query.get("band"))
    page.band = band if band is not None and band in choices.BANDS else choices.EVERY_BOT
    _fill(page, pool, game, query.get("choice", ""))
    return page


def _fill(page: Explorer, pool: Pool, game: engine.Game, marked: str) -> None:
    """Add the rows of the place, and the bands that have enough matches there."""
    by_band: dict[int, dict[str, ChoiceSum]] = {}
    for row in choices.sums(pool, kind=page.kind, hand=page.hand):
        by_band.setdefault(row.band, {})[row.choice] = row
    every = {band: rows[choices.EVERY] for band, rows in by_band.items() if choices.is_shown(rows[choices.EVERY])}
    page.bands = [Option(band, words.band_name(band), every[band].number) for band in choices.BANDS if band in every]
    if page.band not in every:
        page.band = choices.EVERY_BOT
    page.number, page.matches = every[page.band].number, every[page.band].matches
    scale = choices.scale_of(pool)
    figures = {
        (band, row.choice): choices.figures(row, every[band], scale)
        for band in every
        for row in by_band[band].values()
        if row.choice != choices.EVERY and choices.is_shown(row)
    }
    here = [line for (band, _choice), line in figures.items() if band == page.band]
    page.hidden = len(by_band[page.band]) - 1 - len(here)
    others = [band.value for band in page.bands if band.value != choices.EVERY_BOT]
    page.columns = [band.name for band in page.bands if band.value != choices.EVERY_BOT]
    reach = max((abs(line.mean) + line.margin for line in here), default=1.0) or 1.0
    for line in here:
        shares = [figures.get((int(band), line.choice)) for band in others]
        page.rows.append(
            ExplorerRow(
                words.choice_name(game, page.kind, line.choice),
                line.choice == marked,
                line.number,
                line.matches,
                _bar(percent(line.share), f"{percent(line.low)}–{percent(line.high)}", line.low, line.share, line.high),
                _bar(
                    words.signed_worth(game, line.mean),
                    f"± {words.margin_text(game, line.margin)}",
                    *(
                        (value / reach + 1) / 2
                        for value in (line.mean - line.margin, line.mean, line.mean + line.margin)
                    ),
                    zero=0.5,
                ),
                [percent(share.share) if share else "–" for share in shares],
            )
        )


def _bar(value: str, interval: str, low: float, middle: float, high: float, *, zero: float = 0.0) -> LabCell:
    """Return a cell whose bar goes from `low` to `high`, on an axis from 0 to 1."""
    places = (low, high - low, middle, zero)
    return LabCell(value, interval, *(round(WIDTH * place, 2) for place in places))
