"""Rules of the Tute family as a program: states, actions, events, replays. Standard library only.

import engine, random
game = engine.load("partnership")
state = game.new_match(seed=7)
while not state.is_over:
    state.apply(random.choice(state.legal_actions()))
print(state.scores())
"""

# Import this first: it decides whether the compiled rules run.
import engine.compiled

# Import the package of the games before the function `games`, so that no later import can rebind the name `engine.games`.
import engine.games  # noqa: F401
import engine.games as _package  # noqa: F401 - keeps its name when `games` is imported below
from engine import replay
from engine.cards.chance import Dice, board_seed, bot_seed
from engine.compiled import COMPILED
from engine.errors import EngineError, IllegalAction, OptionError
from engine.game import Game, games, load
from engine.match.redaction import redact
from engine.match.state import State
from engine.search.playouts import play_many, playout
from engine.version import VERSION

__version__ = VERSION

__all__ = [
    "COMPILED",
    "Dice",
    "EngineError",
    "Game",
    "IllegalAction",
    "OptionError",
    "State",
    "board_seed",
    "bot_seed",
    "games",
    "load",
    "play_many",
    "playout",
    "redact",
    "replay",
]
