"""Decide which bots of a match play sealed: without access to the host's clocks, by which one could signal to another.

The other is a partner, or the same bot in a later pass, which plays the same cards. A match has one of three settings. `never`; `possible`: seal if
the machine can; `always`: a machine that cannot seal does not play the match. Bots that cannot be sealed (by their own declaration, Node.js, or Go
where threads have numbers of the host) play unsealed.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.runner.faults import Infrastructure
from engine.runner.spec import ALWAYS, NEVER, BotSpec, MatchSpec
from engine.sandbox import Runtime, Sandbox


def why_unsealed(spec: MatchSpec, box: Sandbox) -> str | None:
    """Return why no bot plays sealed, or None. Raise Infrastructure if the match must be sealed and this machine cannot do it."""
    if spec.sealing == NEVER:
        return "not requested"
    reason = box.report.unsealed
    if reason and spec.sealing == ALWAYS:
        raise Infrastructure(f"match {spec.match_id} requires sealed bots, which this machine cannot provide: {reason}")
    return reason


def sealed_parties(spec: MatchSpec, box: Sandbox, runtimes: Mapping[str, Runtime]) -> tuple[bool, ...]:
    """Return, for each party, True if it plays sealed. Raise what `why_unsealed` raises."""
    sealing = why_unsealed(spec, box) is None
    return tuple(
        sealing and bot.connect is None and _is_sealed(spec, bot, box, runtimes[bot.runtime]) for bot in spec.parties
    )


def _is_sealed(spec: MatchSpec, bot: BotSpec, box: Sandbox, runtime: Runtime) -> bool:
    if not (bot.sealable and runtime.sealable):
        return False
    reason = box.why_unsealed(runtime, bot.path / bot.entry)
    if reason and spec.sealing == ALWAYS:
        raise Infrastructure(f"match {spec.match_id} requires sealed bots, which this machine cannot provide: {reason}")
    return reason is None
