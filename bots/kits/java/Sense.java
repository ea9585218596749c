/**
 * Table sense for bots in Java: announcements, auctions and rough probabilities, for every game of the rules book.
 *
 * <p>It gives the advice of tute_sense for Python, to the same numbers. All of it follows rules of thumb, meant to be beaten: use it for the parts
 * that your bot does not care about. `announce` answers every question that is not about a card.
 */
final class Sense {
    private static final char[] SUITS = {'o', 'c', 'e', 'b'};
    private static final int[] TRUMP_WORTH = {16, 14, 9, 8, 7, 5}, PLAIN_WORTH = {13, 7, 3, 2, 1, 0};

    private Sense() {}

    // --- actions

    /** The verb of an action; codillo's call "play" has the verb "enter". */
    private static String verb(String action) {
        if (action.equals("play")) {
            return "enter";
        }
        int space = action.indexOf(' ');
        return space < 0 ? action : action.substring(0, space);
    }

    private static String object(String action) {
        return action.substring(action.indexOf(' ') + 1);
    }

    /** The legal action with a verb whose object is liked most, the first of equals; null if there is none. */
    private static String liked(View view, String verb) {
        String best = null;
        double most = Double.NEGATIVE_INFINITY;
        for (String action : view.legal) {
            if (verb(action).equals(verb)) {
                double liking = liking(view, verb, object(action));
                if (liking > most) {
                    best = action;
                    most = liking;
                }
            }
        }
        return best;
    }

    private static double liking(View view, String verb, String object) {
        switch (verb) {
            case "sing":
                return object.indexOf(view.trump) >= 0 ? 1 : 0;
            case "bid":
                return -Integer.parseInt(object);
            case "trump":
                return promise(view, object.charAt(0));
            case "call": // The strongest card that you lack: trumps before plain suits, long plain suits before short ones.
                char suit = object.charAt(1);
                int worth = view.strength[view.cardOf(object)] + (suit == view.trump ? 20 : 0);
                return 100 * worth + Tute.count(view.hand & view.above(suit, -1));
            case "predict":
                return -Math.abs(Integer.parseInt(object) - likelyTricks(view));
            case "discard": // Keep trumps and aces and exchange the rest.
                int sum = 0;
                for (String text : object.split(" ")) {
                    int card = view.cardOf(text);
                    sum += card < 0 ? 0 : view.suit(card) != view.trump && view.strength[card] < 8 ? 1 : -3;
                }
                return sum;
            default:
                return 0;
        }
    }

    // --- the value of a hand

    private static int promised(char rank, boolean isTrump) {
        int place = "13RCS".indexOf(rank);
        return (isTrump ? TRUMP_WORTH : PLAIN_WORTH)[place < 0 ? 5 : place];
    }

    /** True if your hand holds the pair of a suit, which can still be sung. */
    private static boolean hasPair(View view, char suit) {
        long pair = view.ofRanks(view.pairRanks, suit);
        return !view.handSongs.equals("none") && view.sung.indexOf(suit) < 0 && (pair & ~view.hand) == 0;
    }

    private static int songValue(View view, char suit, char trump) {
        return suit == trump ? view.songTrump : view.songOther;
    }

    /** Return the points that your hand promises with a suit as trump, songs included. An average hand of three has 43. */
    static double promise(View view, char trump) {
        int cards = 0;
        double songs = 0;
        for (int card : Tute.list(view.hand)) {
            cards += promised(view.name[card].charAt(0), view.suit(card) == trump);
        }
        for (char suit : SUITS) {
            songs += hasPair(view, suit) ? songValue(view, suit, trump) * 0.8 : 0;
        }
        return (cards + songs) * 130 / 152;
    }

    private static double bestPromise(View view) {
        double best = 0;
        for (char suit : SUITS) {
            best = Math.max(best, promise(view, suit));
        }
        return best;
    }

    private static double power(double base, int times) {
        double product = 1;
        for (int time = 0; time < times; time++) {
            product *= base;
        }
        return product;
    }

    /** Return the tricks that your hand can expect, by the probability that nobody holds anything better. */
    static double likelyTricks(View view) {
        int others = -1, size = Math.max(1, Tute.count(view.hand));
        for (boolean isOut : view.out) {
            others += isOut ? 0 : 1;
        }
        others = Math.max(1, others);
        // the probability that a given card is in play at all
        double inPlay = Math.min(1, (double) (others * size) / Math.max(1, view.size - size));
        double expected = 0;
        for (int card : Tute.list(view.hand)) {
            char suit = view.suit(card);
            int higher = Tute.count(view.unseen & view.above(suit, card));
            double chance = higher < 4 ? power(1 - inPlay, higher) : 0;
            if (view.trump != 0 && suit != view.trump) {
                double length = Tute.count(view.hand & view.above(suit, -1));
                chance *= Math.max(0.3, 0.9 - 0.12 * length * others / 2);
            } else if (view.trump != 0 && size > 2) {
                chance = Math.max(chance, 0.35 * inPlay);
            } else if (view.trump != 0) {
                chance = Math.max(chance, 0.2);
            }
            expected += chance;
        }
        return expected;
    }

    /** Return the tricks that your hand can expect in bato, with poor cards exchanged before play (a new card is worth about 0.2). */
    static double tricksInSight(View view) {
        double expected = 0;
        for (int card : Tute.list(view.hand)) {
            int higher = Tute.count(view.unseen & view.above(view.suit(card), card));
            if (view.suit(card) == view.trump) {
                expected += Math.max(0.3, 0.95 - 0.12 * higher);
            } else {
                expected += higher == 0 ? 0.6 : higher == 1 ? 0.35 : 0.2;
            }
        }
        return expected;
    }

    // --- the goal

    /** The cards in other hands or the stock. */
    private static long hiddenCards(View view) {
        long cards = view.unseen;
        for (long known : view.known) {
            cards |= known;
        }
        return cards;
    }

    private static double meanStrength(View view, long cards) {
        double sum = 0;
        for (int card : Tute.list(cards)) {
            double worth = view.value[card] + view.strength[card] / 2.0;
            sum += view.suit(card) == view.trump ? 2 * worth : worth;
        }
        return sum / Math.max(1, Tute.count(cards));
    }

    /** Return the strength of your hand relative to an average hand of the cards that you cannot see. Trumps count double. */
    static double strengthRatio(View view) {
        double average = meanStrength(view, hiddenCards(view));
        return view.hand == 0 || average == 0 ? 1 : meanStrength(view, view.hand) / average;
    }

    /** Return 1 to take points, -1 to avoid them, by the result of the game, the hand and what has been won so far. */
    static int aim(View view) {
        return takes(view) ? 1 : -1;
    }

    private static boolean takes(View view) {
        int own = view.scored[view.seat], size = Tute.count(view.hand);
        switch (view.result) {
            case "exact_prediction":
                return view.tricks[view.seat] < view.predicted[view.seat];
            case "most_points_loses_unless_101":
                return own + 25 * strengthRatio(view) * size / 4 >= 101;
            case "cabron_loses":
                if (view.tricks[view.seat] == 0) {
                    return true; // A seat without a trick loses.
                }
                if (own > 60) {
                    return false; // A seat with more than a hundred loses, too.
                }
                break;
            case "middle_loses":
            case "middle_of_three_loses":
                break;
            default:
                return true;
        }
        int bestOther = 0, tricks = 0;
        for (int seat = 0; seat < view.seats; seat++) {
            tricks += view.tricks[seat];
            if (seat != view.seat && !view.out[seat]) {
                bestOther = Math.max(bestOther, view.scored[seat]);
            }
        }
        double still = (double) size / Math.max(1, size + tricks);
        return (own - bestOther) / 40.0 + (strengthRatio(view) - 1) * still > 0.25;
    }

    // --- announcements

    /** Codillo: with an ordinary hand, because the called card brings a partner. Bato: with two tricks in sight; with loss marks, tricks earn nothing. */
    private static boolean enters(View view) {
        if (view.trump != 0) {
            return view.settlement.equals("chips") && tricksInSight(view) >= 1.6;
        }
        return bestPromise(view) >= 35;
    }

    /** In bato one trick is enough, but each seat that has joined takes some of the four tricks. */
    private static boolean joins(View view) {
        int joined = 0;
        for (String call : view.call) {
            joined += "join".equals(call) ? 1 : 0;
        }
        return view.settlement.equals("chips") && tricksInSight(view) >= 0.8 + 0.25 * joined;
    }

    /** The action, or another one if it is not good and the other is legal. */
    private static String either(View view, String action, boolean isGood, String other) {
        String instead = isGood ? null : liked(view, other);
        return instead == null ? action : instead;
    }

    /** Return the announcement to make now, or null when it is time to play a card. */
    static String announce(View view) {
        String claim = liked(view, "claim");
        int side = view.side[view.seat];
        if (claim != null && view.target > 0 && view.totals[side] + view.points(side) >= view.target) {
            return claim;
        }
        for (String verb : new String[] {"tute", "exchange"}) {
            String action = liked(view, verb);
            if (action != null) {
                return action;
            }
        }
        String song = liked(view, "sing"), bid = liked(view, "bid");
        if (song != null && takes(view)) {
            return song;
        }
        if (bid != null) {
            return either(view, bid, bestPromise(view) >= Integer.parseInt(object(bid)), "pass");
        }
        String enter = liked(view, "enter"), join = liked(view, "join");
        if (enter != null) {
            return either(view, enter, enters(view), "pass");
        }
        if (join != null) {
            return either(view, join, joins(view), "out");
        }
        for (String verb : new String[] {"trump", "call", "predict", "discard"}) {
            String action = liked(view, verb);
            if (action != null) {
                return action;
            }
        }
        String take = liked(view, "take");
        if (take != null) {
            return either(view, take, takes(view) || view.scored[view.seat] >= 101, "decline");
        }
        return liked(view, "play") != null ? null : either(view, view.legal[0], false, "pass");
    }

    // --- chances in the trick on the table

    /** Return the card points on the table. */
    static int trickPoints(View view) {
        int sum = 0;
        for (int card : view.table) {
            sum += view.value[card];
        }
        return sum;
    }

    /** Return the seats that play to this trick after you, in order. */
    static int[] toFollow(View view) {
        int[] seats = {};
        for (int step = 1; step < view.seats; step++) {
            int seat = (view.seat + step) % view.seats;
            boolean hasPlayed = view.out[seat];
            for (int other : view.by) {
                hasPlayed |= other == seat;
            }
            seats = hasPlayed ? seats : Tute.with(seats, seat);
        }
        return seats;
    }

    /** The probability that a seat holds one of the cards; reach: that it holds a given unseen one. */
    private static double has(View view, int seat, double reach, long cards) {
        long known = view.known[seat];
        cards &= view.unseen & ~view.barred[seat] | known;
        return (cards & known) != 0 ? 1 : 1 - power(1 - reach, Tute.count(cards));
    }

    private static double chanceToBeat(View view, int seat, int card, char led) {
        int hidden = Math.max(0, view.counts[seat] - Tute.count(view.known[seat]));
        double reach = Math.min(1, (double) hidden / Math.max(1, Tute.count(view.unseen)));
        char suit = view.suit(card);
        double higher = has(view, seat, reach, view.above(suit, card));
        double follows = has(view, seat, reach, view.above(led, -1));
        double trumps = has(view, seat, reach, view.above(view.trump, -1));
        if (suit == view.trump && (led == view.trump || view.stock > 0)) {
            return higher;
        }
        if (suit == view.trump) {
            return higher * (1 - follows);
        }
        if (view.stock > 0 && !view.stockDuty.equals("strict")) {
            return Math.max(higher, trumps * Math.min(1, (trickPoints(view) + view.value[card]) / 16.0));
        }
        double ruff = (1 - follows) * trumps;
        return suit == led ? ruff + higher * (1 - ruff) : ruff;
    }

    /** Return a rough probability that a card, winning for a seat once played, is not beaten by the other side in this trick. */
    static double chanceToHold(View view, int seat, int card) {
        double chance = 1;
        char led = view.led == 0 ? view.suit(card) : view.led;
        for (int other : toFollow(view)) {
            if (!view.together(other, seat)) {
                chance *= 1 - chanceToBeat(view, other, card, led);
            }
        }
        return chance;
    }

    /** Return the points of the pairs that the trick would contain with a card, if the rules let its winner score them. */
    static int songsOnTable(View view, int card) {
        long laid = Tute.bit(card);
        int sum = 0;
        for (int other : view.table) {
            laid |= Tute.bit(other);
        }
        for (char suit : SUITS) {
            if (view.tableSongs.equals("none") || (view.ofRanks(view.pairRanks, suit) & ~laid) != 0) {
                continue;
            }
            if (view.tableSongs.equals("forced_first_40")) {
                sum = view.trump == 0 ? 40 : 20;
            } else {
                sum += songValue(view, suit, view.trump);
            }
        }
        return sum;
    }

    /** Return true if no card of its suit that may be in another hand or in the stock is stronger. */
    static boolean isMaster(View view, int card) {
        return (hiddenCards(view) & view.above(view.suit(card), card)) == 0;
    }

    /** Return the cards that you may play, without those that would break a pair still to be sung, unless no others are left. */
    static int[] looseCards(View view) {
        int[] cards = {}, loose = {};
        long paired = 0;
        for (char suit : SUITS) {
            paired |= hasPair(view, suit) ? view.ofRanks(view.pairRanks, suit) : 0;
        }
        for (String action : view.legal) {
            int card = view.plays(action);
            if (card >= 0) {
                cards = Tute.with(cards, card);
                loose = (paired & Tute.bit(card)) == 0 ? Tute.with(loose, card) : loose;
            }
        }
        return loose.length == 0 ? cards : loose;
    }
}
