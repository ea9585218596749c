"""Solving with open cards: the worth of a deal, and the loss of each action.

    found = solve(state)              # Solution(low, high, nodes): exact where low == high
    judge(state)                      # {action: Solution} for the seat on turn

Worth is the worth of the whole deal, from its beginning on, to the first of the two `camps`, in units of the board score.
"""

from engine.search.solving.judging import Solution, judge, max_n, solve
from engine.search.solving.worth import NotTwoSidedError, camps

__all__ = ["NotTwoSidedError", "Solution", "camps", "judge", "max_n", "solve"]
