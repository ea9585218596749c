"""Plays matches between bot processes: clocks, faults, logs.

    from engine.runner import MatchSpec, load_package
    from engine.runner.match import play_match

`play_match` stands apart because it brings the rules and the sandbox with it; packages and limits do without.
"""

from engine.packages.manifest import PackageRefused
from engine.runner.faults import Fault, Infrastructure
from engine.runner.limits import Limits
from engine.runner.result import BoardResult, FaultReport, MatchResult, PartyReport, SittingResult
from engine.runner.spec import BotSpec, MatchSpec, bot_spec, load_package

__all__ = [
    "BoardResult",
    "BotSpec",
    "Fault",
    "FaultReport",
    "Infrastructure",
    "Limits",
    "MatchResult",
    "MatchSpec",
    "PackageRefused",
    "PartyReport",
    "SittingResult",
    "bot_spec",
    "load_package",
]
