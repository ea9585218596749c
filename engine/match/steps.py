"""Steps: what comes next in a match. A part of the rules returns a step, and `engine.match.flow` carries it out."""

from typing import Final

WAIT: Final = 0  # a seat has been asked, or the match is over
STAGE: Final = 1  # the next stage before the first lead, or that lead
DRAW: Final = 2  # window A is closed: the draw, then window B
WINDOW_B: Final = 3  # announcements before the next lead
LEAD: Final = 4  # the winner of the trick leads
COUNT: Final = 5  # the deal is counted
DECIDED: Final = 6  # the deal ends by `state.verdict`
DEAL: Final = 7  # the next deal
