"""Rules pages: the declared parameters of a game, a trick that the engine plays, and the prose in `prose/`. Plain data, no HTML."""

from engine.rulebook.deal import StageText, deal_steps
from engine.rulebook.mixtures import Mixture, all_mixtures, mixtures
from engine.rulebook.page import LANGUAGES, index, page, prose
from engine.rulebook.picture import picture
from engine.rulebook.table import ParameterRow, lines, option_lines, ordinary, text
from engine.rulebook.trick import Follower, WorkedTrick, worked_trick

__all__ = [
    "LANGUAGES", "Follower", "Mixture", "ParameterRow", "StageText", "WorkedTrick",
    "all_mixtures", "deal_steps", "index", "lines", "mixtures", "option_lines", "ordinary", "page", "picture", "prose", "text", "worked_trick",
]  # fmt: skip
