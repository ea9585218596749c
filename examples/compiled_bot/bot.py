"""A bot in Python whose slow part is compiled: it draws 20,000 deals of the hidden cards for each card that could take the trick."""

from chance import holds
from tute_bot import Bot, View, plays, run
from tute_sense import aim, announce

SAMPLES = 20_000


def worth(view: View, card: str, seed: int) -> float:
    """Return the points that a card is expected to win or lose in this trick, less a tenth of what it is worth later."""
    later = (view.value(card) + view.strength(card) / 10) / 10
    if not view.would_win(card):
        return -view.value(card) * aim(view) - later
    hidden = sorted(view.unseen)
    beating = [view.beats(other, card) for other in hidden]
    rivals = [seat for seat in view.to_follow() if not view.same_side(seat, view.seat)]
    allowed = [[view.may_hold(seat, other) for other in hidden] for seat in rivals]
    chance = holds(beating, allowed, [view.counts[seat] for seat in rivals], SAMPLES, seed)
    return (2 * chance - 1) * (view.trick_points + view.value(card)) * aim(view) - later


class CompiledBot(Bot):
    """Announces by rule of thumb, and plays the card that is worth most."""

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of the legal actions."""
        cards = plays(legal)
        word = announce(view, legal)
        if word or len(cards) == 1:
            return word or "play " + cards[0]
        seed = self.random.getrandbits(32)
        return "play " + max(cards, key=lambda card: worth(view, card, seed))


if __name__ == "__main__":
    run(CompiledBot())
