"""The house bot `random`: the floor that every other bot must beat.

It chooses uniformly among its legal actions, with four exceptions, which keep it from losing a deal by a mere word:

1. `claim` only when the count says that it is right;
2. never `capote` and never `accuse`, which promise or assert something that it does not examine;
3. of several bids it considers only the lowest;
4. if it may change cards, it first draws how many.

The choice depends on nothing but the referee's seed and the questions asked, so a pass can be repeated.
"""

from tute_bot import Bot, View, parse, run


class RandomBot(Bot):
    """A bot that chooses uniformly among the actions that are not plainly foolish."""

    name = "random"

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of the legal actions that are not plainly foolish, each with the same chance."""
        choices = [action for action in legal if not self.is_foolish(view, action)]
        bids = [action for action in choices if action.startswith("bid")]
        choices = [action for action in choices if action not in bids[1:]]
        discards = [action for action in choices if action.startswith("discard")]
        if len(discards) > 1:
            count = self.random.choice(sorted({action.count(" ") for action in discards}))
            choices = [action for action in discards if action.count(" ") == count]
        return self.random.choice(choices or legal)

    def is_foolish(self, view: View, action: str) -> bool:
        """Return True for a claim that is not right, and for words that promise or assert something that the bot does not examine."""
        verb, _ = parse(action)
        if verb == "claim":
            target = view.rule("target")
            return target is None or view.totals[view.side] + view.side_points(view.side) < target
        return verb in ("capote", "accuse")


if __name__ == "__main__":
    run(RandomBot())
