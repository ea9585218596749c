"""Decide which bots of a match play sealed: without access to the host's clocks, through which partners could communicate.

A match has one of three settings. `never`; `partners`: seal if a party or a side holds more than one seat and the machine can; `always`: a machine
that cannot seal does not play the match. Bots that cannot be sealed (by their own declaration, Node.js, or Go where threads have numbers of the
host) play unsealed.
"""

from __future__ import annotations

from collections.abc import Mapping

import engine
from engine.runner.faults import Infrastructure
from engine.runner.spec import ALWAYS, PARTNERS, BotSpec, MatchSpec
from engine.sandbox import Runtime, Sandbox


def has_partners(game: engine.Game, parties: int) -> bool:
    """Return True if some seat at this table has a partner: another seat of its party, or one that wins and loses with it."""
    return parties < game.players or any(len(side) > 1 for side in game.sides)


def why_unsealed(spec: MatchSpec, game: engine.Game, box: Sandbox) -> str | None:
    """Return why no bot plays sealed, or None. Raise Infrastructure if the match must be sealed and this machine cannot do it."""
    if spec.sealing == ALWAYS or (spec.sealing == PARTNERS and has_partners(game, len(spec.parties))):
        reason = box.report.unsealed
        if reason and spec.sealing == ALWAYS:
            raise Infrastructure(
                f"match {spec.match_id} requires sealed bots, which this machine cannot provide: {reason}"
            )
        return reason
    return "no seat has a partner" if spec.sealing == PARTNERS else "not requested"


def sealed_parties(
    spec: MatchSpec, game: engine.Game, box: Sandbox, runtimes: Mapping[str, Runtime]
) -> tuple[bool, ...]:
    """Return, for each party, True if it plays sealed. Raise what `why_unsealed` raises."""
    sealing = why_unsealed(spec, game, box) is None
    return tuple(sealing and _is_sealed(spec, bot, box, runtimes[bot.runtime]) for bot in spec.parties)


def _is_sealed(spec: MatchSpec, bot: BotSpec, box: Sandbox, runtime: Runtime) -> bool:
    if not (bot.sealable and runtime.sealable):
        return False
    reason = box.why_unsealed(runtime, bot.path / bot.entry)
    if reason and spec.sealing == ALWAYS:
        raise Infrastructure(f"match {spec.match_id} requires sealed bots, which this machine cannot provide: {reason}")
    return reason is None
