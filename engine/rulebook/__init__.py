"""Rules pages: the declared parameters of a game, a trick played by the engine, and the prose in `prose/`. Plain data, no HTML."""

from engine.rulebook.deal import StageText, deal_steps
from engine.rulebook.page import LANGUAGES, index, page, prose
from engine.rulebook.picture import picture
from engine.rulebook.table import ParameterRow, lines, option_lines, ordinary
from engine.rulebook.trick import Follower, Trick, worked_trick

__all__ = [
    "LANGUAGES", "Follower", "ParameterRow", "StageText", "Trick",
    "deal_steps", "index", "lines", "option_lines", "ordinary", "page", "picture", "prose", "worked_trick",
]  # fmt: skip
