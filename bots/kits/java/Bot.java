/**
 * The house bot `greedy` in Java: it announces whatever pays, and plays the card with the best trick, less what the card is worth later.
 *
 * <p>Tute.java beside it has the dialogue, the view and deals of the hidden cards; Sense.java has announcements and rough chances. The league builds
 * it; tute bot build does so at home.
 */
final class Bot implements Tute.Chooser {
    private static final double COMING = 3; // points that each seat still to play adds to a trick, on average
    private static final double TRICK = 10; // worth of a trick in games that count tricks, not points

    public static void main(String[] words) {
        Tute.run("kit java", new Bot());
    }

    @Override
    public String choose(View view) {
        String action = Sense.announce(view);
        if (action != null) {
            return action;
        }
        int best = -1;
        double most = Double.NEGATIVE_INFINITY;
        for (int card : Sense.looseCards(view)) {
            double gain = Sense.aim(view) * (trickValue(view, card) - price(view, card));
            if (gain > most) {
                best = card;
                most = gain;
            }
        }
        return "play " + view.name[best];
    }

    /** The points that the trick is expected to bring our side (minus: theirs) if we play the card. */
    private static double trickValue(View view, int card) {
        int points = Sense.trickPoints(view) + view.value[card] + Sense.songsOnTable(view, card);
        double worth = points + COMING * Sense.toFollow(view).length;
        if (view.result.equals("trick_commitments") || view.result.equals("exact_prediction")) {
            worth = TRICK;
        }
        if (Tute.count(view.hand) == 1) {
            worth += view.bonus;
        }
        if (view.best < 0 || view.beats(card, view.table[view.best])) {
            return worth * (2 * Sense.chanceToHold(view, view.seat, card) - 1);
        }
        int winner = view.by[view.best];
        double held = 2 * Sense.chanceToHold(view, winner, view.table[view.best]) - 1;
        if (view.together(winner, view.seat)) {
            return worth * held;
        }
        for (int seat = 0; seat < view.seats; seat++) {
            if (seat != view.seat && !view.out[seat] && view.together(seat, view.seat)) {
                return worth * -held;
            }
        }
        return -worth;
    }

    /** The later worth of the card, in points. */
    private static double price(View view, int card) {
        double strength = view.strength[card];
        if (view.suit(card) == view.trump) {
            return 3 + 1.2 * strength;
        }
        if (Sense.isMaster(view, card) && view.value[card] > 0) {
            return 4;
        }
        return 0.5 * strength;
    }
}
