"""Rules pages: what the record of a game says, a trick that the engine really played, and the prose of `docs/games/prose`. Plain data, no HTML."""

from engine.rulebook.page import index, page, prose
from engine.rulebook.table import Line, lines, option_lines
from engine.rulebook.trick import Follower, Trick, worked_trick

__all__ = ["Follower", "Line", "Trick", "index", "lines", "option_lines", "page", "prose", "worked_trick"]
