"""Which bots of a match play sealed: off from every clock of the host, by which partners could talk without a word.

A match asks for it by one of three words: `never`; `partners`, where one party or one side holds more than one seat, as far as
the machine can; `always`, and then a machine that cannot plays nothing. What cannot be sealed (a bot that says so, Node.js) plays unsealed.
"""

from __future__ import annotations

from collections.abc import Mapping

import engine
from engine.runner.faults import Infrastructure
from engine.runner.spec import ALWAYS, PARTNERS, MatchSpec
from engine.sandbox import Runtime, Sandbox


def has_partners(game: engine.Game, parties: int) -> bool:
    """Whether somebody at this table has a partner: another seat of its own, or one that wins and loses with it."""
    return parties < game.players or any(len(side) > 1 for side in game.sides)


def why_unsealed(spec: MatchSpec, game: engine.Game, box: Sandbox) -> str | None:
    """Why nobody plays sealed, or None. Raises Infrastructure where the match must be sealed and this machine cannot do it."""
    if spec.sealing == ALWAYS or (spec.sealing == PARTNERS and has_partners(game, len(spec.parties))):
        reason = box.report.unsealed
        if reason and spec.sealing == ALWAYS:
            raise Infrastructure(
                f"match {spec.match_id} is to be played sealed, and no bot is sealed on this machine: {reason}"
            )
        return reason
    return "nobody has a partner" if spec.sealing == PARTNERS else "not asked for"


def sealed_parties(
    spec: MatchSpec, game: engine.Game, box: Sandbox, runtimes: Mapping[str, Runtime]
) -> tuple[bool, ...]:
    """Whether each party plays sealed. Raises as `why_unsealed`."""
    wanted = why_unsealed(spec, game, box) is None
    return tuple(wanted and bot.sealable and runtimes[bot.runtime].sealable for bot in spec.parties)
