"""Play matches between bot processes: clocks, faults, logs.

    from engine.runner import MatchSpec, load_package
    from engine.runner.match import play_match

`play_match` is imported separately because it loads the rules and the sandbox; packages and limits need neither.
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
