/* Table sense for bots in C and C++: announcements, auctions and rough probabilities, for every game of the rules book.
 *
 * It gives the advice of `tute_sense` for Python, to the same numbers. All of it follows rules of thumb, meant to be beaten: use it for the parts
 * that your bot does not care about. `announce` answers every question that is not about a card.
 */
#include "tute.h"

/* --- actions ------------------------------------------------------------------------------------------------------ */

/* True if an action has this verb; codillo's call "play" has the verb "enter". */
static inline int says(const char *action, const char *verb) {
    size_t size = strlen(verb);
    return !strcmp(action, "play") ? !strcmp(verb, "enter") : !strncmp(action, verb, size) && (action[size] == ' ' || !action[size]);
}

static inline const char *object(const char *action) {
    const char *space = strchr(action, ' ');
    return space ? space + 1 : "";
}

/* The first legal action with a verb, or NULL. */
static inline const char *first(const View *view, const char *verb) {
    for (int one = 0; one < view->choices; one++)
        if (says(view->legal[one], verb)) return view->legal[one];
    return NULL;
}

/* The legal action with a verb whose object is liked most, the first of equals. */
static inline const char *liked(const View *view, const char *verb, double (*liking)(const View *, const char *)) {
    const char *best = NULL;
    double most = 0;
    for (int one = 0; one < view->choices; one++) {
        const char *action = view->legal[one];
        double here = says(action, verb) ? liking(view, object(action)) : 0;
        if (says(action, verb) && (!best || here > most)) {
            best = action;
            most = here;
        }
    }
    return best;
}

/* --- the value of a hand ------------------------------------------------------------------------------------------ */

/* The worth of an ace, three, king, horse, jack and any other card in a hand, as trump and else. */
static inline double promised(char rank, int is_trump) {
    static const int worth[2][6] = {{13, 7, 3, 2, 1, 0}, {16, 14, 9, 8, 7, 5}};
    const char *place = strchr("13RCS", rank);
    return worth[is_trump][place ? place - "13RCS" : 5];
}

/* The cards of the pairs in your hand that can still be sung. */
static inline Cards pairs(const View *view) {
    Cards all = 0;
    for (int one = 0; one < 4 && strcmp(view->singers, "none"); one++) {
        Cards pair = of_ranks(view, view->pair, "oceb"[one]);
        if (!view->sung[one] && !(pair & ~view->hand)) all |= pair;
    }
    return all;
}

static inline int song_value(const View *view, char of) { return of == view->trump ? view->song_trump : view->song_other; }

/* The points that your hand promises with a suit as trump, songs included. An average hand of three has 43. */
static inline double promise(const View *view, char trump) {
    double total = 0;
    for (int card = 0; card < view->size; card++)
        if (view->hand & bit(card)) total += promised(view->name[card][0], suit(view, card) == trump);
    for (const char *of = "oceb"; *of; of++)
        if (pairs(view) & above(view, *of, -1)) total += (*of == trump ? view->song_trump : view->song_other) * 0.8;
    return total * 130 / 152;
}

static inline double best_promise(const View *view) {
    double best = 0;
    for (const char *of = "oceb"; *of; of++)
        if (promise(view, *of) > best) best = promise(view, *of);
    return best;
}

static inline double power(double base, int times) {
    double product = 1;
    while (times-- > 0) product *= base;
    return product;
}

/* The tricks that your hand can expect, by the probability that nobody holds anything better. */
static inline double likely_tricks(const View *view) {
    int out = 0, size = count(view->hand);
    for (int seat = 0; seat < view->seats; seat++) out += view->out[seat];
    int others = view->seats - out - 1 > 1 ? view->seats - out - 1 : 1, rest = view->size - (size ? size : 1);
    size = size ? size : 1;
    double in_play = (double)(others * size) / (rest > 1 ? rest : 1), expected = 0; /* the probability that a given card is in play at all */
    if (in_play > 1) in_play = 1;
    for (int card = 0; card < view->size; card++) {
        if (!(view->hand & bit(card))) continue;
        char of = suit(view, card);
        int higher = count(view->unseen & above(view, of, card)), length = count(view->hand & above(view, of, -1));
        double chance = higher < 4 ? power(1 - in_play, higher) : 0;
        if (view->trump && of != view->trump) {
            double eases = 0.9 - 0.12 * length * others / 2;
            chance *= eases > 0.3 ? eases : 0.3;
        } else if (view->trump) {
            double ruffs = size > 2 ? 0.35 * in_play : 0.2;
            if (ruffs > chance) chance = ruffs;
        }
        expected += chance;
    }
    return expected;
}

/* The tricks that your hand can expect in bato, with poor cards exchanged before play (a new card is worth about 0.2). */
static inline double tricks_in_sight(const View *view) {
    double expected = 0;
    for (int card = 0; card < view->size; card++) {
        if (!(view->hand & bit(card))) continue;
        int higher = count(view->unseen & above(view, suit(view, card), card));
        double plain = higher == 0 ? 0.6 : higher == 1 ? 0.35 : 0.2, trump = 0.95 - 0.12 * higher;
        expected += suit(view, card) != view->trump ? plain : trump > 0.3 ? trump : 0.3;
    }
    return expected;
}

/* --- the goal ----------------------------------------------------------------------------------------------------- */

/* The strength of your hand relative to an average hand of the cards that you cannot see. Trumps count double. */
static inline double strength_ratio(const View *view) {
    Cards others = view->unseen;
    double own = 0, hidden = 0;
    for (int seat = 0; seat < view->seats; seat++) others |= view->known[seat];
    for (int card = 0; card < view->size; card++) {
        double worth = (suit(view, card) == view->trump ? 2 : 1) * (view->value[card] + view->strength[card] / 2.0);
        if (view->hand & bit(card)) own += worth;
        if (others & bit(card)) hidden += worth;
    }
    if (!view->hand || !hidden) return 1;
    return own / count(view->hand) / (hidden / count(others));
}

/* 1 to take points, -1 to avoid them, by the result of the game, the hand and what has been won so far. */
static inline int aim(const View *view) {
    int seat = view->seat, own = view->scored[seat], best_other = 0, tricks = 0, size = count(view->hand);
    int cabron = !strcmp(view->result, "cabron_loses"), unless_101 = !strcmp(view->result, "most_points_loses_unless_101");
    if (!strcmp(view->result, "exact_prediction")) return view->tricks[seat] < view->predicted[seat] ? 1 : -1;
    if (!cabron && !unless_101 && strcmp(view->result, "middle_loses") && strcmp(view->result, "middle_of_three_loses")) return 1;
    for (int other = 0; other < view->seats; other++) {
        tricks += view->tricks[other];
        if (other != seat && !view->out[other] && view->scored[other] > best_other) best_other = view->scored[other];
    }
    if (unless_101) return own + 25 * strength_ratio(view) * size / 4 >= 101 ? 1 : -1;
    if (cabron && !view->tricks[seat]) return 1; /* a seat without a trick loses */
    if (cabron && own > 60) return -1;           /* a seat with more than a hundred loses, too */
    double still = (double)size / (size + tricks > 1 ? size + tricks : 1), lead = (own - best_other) / 40.0;
    return lead + (strength_ratio(view) - 1) * still > 0.25 ? 1 : -1;
}

/* --- announcements ------------------------------------------------------------------------------------------------ */

static inline double like_song(const View *view, const char *of) { return *of == view->trump; }
static inline double like_low(const View *view, const char *points) { return (void)view, -atoi(points); }
static inline double like_trump(const View *view, const char *of) { return promise(view, *of); }

/* The strongest card that you lack: trumps before plain suits, long plain suits before short ones. */
static inline double like_call(const View *view, const char *text) {
    int card = card_of(view, text), worth = 20 * (text[1] == view->trump) + view->strength[card];
    return 100 * worth + count(view->hand & above(view, text[1], -1));
}

static inline double like_number(const View *view, const char *tricks) {
    double distance = atoi(tricks) - likely_tricks(view);
    return distance > 0 ? -distance : distance;
}

/* Keep trumps and aces and exchange the rest. */
static inline double like_discard(const View *view, const char *texts) {
    double sum = 0;
    for (; texts[0] && texts[1]; texts += texts[2] == ' ' ? 3 : 2) {
        char text[3] = {texts[0], texts[1], '\0'};
        sum += text[1] != view->trump && view->strength[card_of(view, text)] < 8 ? 1 : -3;
    }
    return sum;
}

/* Codillo: with an ordinary hand, because the called card brings a partner. Bato: with two tricks in sight; with loss marks, tricks earn nothing. */
static inline int enters(const View *view) {
    if (view->trump) return !strcmp(view->settlement, "chips") && tricks_in_sight(view) >= 1.6;
    return best_promise(view) >= 35;
}

/* In bato one trick is enough, but each seat that has joined takes some of the four tricks. */
static inline int joins(const View *view) {
    int joined = 0;
    for (int seat = 0; seat < view->seats; seat++) joined += !strcmp(view->call[seat], "join");
    return !strcmp(view->settlement, "chips") && tricks_in_sight(view) >= 0.8 + 0.25 * joined;
}

/* The announcement to make now, or NULL when it is time to play a card. */
static inline const char *announce(const View *view) {
    const char *pass = first(view, "pass"), *bid = liked(view, "bid", like_low), *answer;
    int side = view->side[view->seat];
    if ((answer = first(view, "claim")) && view->target && view->totals[side] + points(view, side) >= view->target) return answer;
    if ((answer = first(view, "tute")) || (answer = first(view, "exchange"))) return answer;
    if ((answer = liked(view, "sing", like_song)) && aim(view) > 0) return answer;
    if (bid) return !pass || best_promise(view) >= atoi(object(bid)) ? bid : pass;
    if ((answer = first(view, "enter"))) return !pass || enters(view) ? answer : pass;
    if ((answer = first(view, "join"))) return !first(view, "out") || joins(view) ? answer : first(view, "out");
    if ((answer = liked(view, "trump", like_trump)) || (answer = liked(view, "call", like_call))) return answer;
    if ((answer = liked(view, "predict", like_number)) || (answer = liked(view, "discard", like_discard))) return answer;
    if ((answer = first(view, "take"))) return aim(view) > 0 || view->scored[view->seat] >= 101 ? answer : first(view, "decline");
    if (first(view, "play")) return NULL;
    return pass ? pass : view->legal[0];
}

/* --- chances in the trick on the table ---------------------------------------------------------------------------- */

static inline int trick_points(const View *view) {
    int sum = 0;
    for (int one = 0; one < view->on_table; one++) sum += view->value[view->table[one]];
    return sum;
}

/* True if a seat has to play to this trick after you. */
static inline int follows(const View *view, int seat) {
    for (int one = 0; one < view->on_table; one++)
        if (view->by[one] == seat) return 0;
    return seat != view->seat && !view->out[seat];
}

/* The probability that a seat holds one of these cards. */
static inline double holds(const View *view, int seat, Cards cards) {
    int hidden = view->counts[seat] - count(view->known[seat]), unseen = count(view->unseen);
    double reach = (double)(hidden > 0 ? hidden : 0) / (unseen ? unseen : 1); /* the probability that it holds a given unseen card */
    return view->known[seat] & cards ? 1 : 1 - power(1 - (reach < 1 ? reach : 1), count(cards));
}

static inline double chance_to_beat(const View *view, int seat, int card, char led) {
    Cards may = (view->unseen & ~view->barred[seat]) | view->known[seat];
    double higher = holds(view, seat, may & above(view, suit(view, card), card));
    double follow = holds(view, seat, may & above(view, led, -1)), trumps = holds(view, seat, may & above(view, view->trump, -1));
    if (suit(view, card) == view->trump) return led == view->trump || view->stock ? higher : higher * (1 - follow);
    if (view->stock && strcmp(view->stock_duty, "strict")) {
        double eager = (trick_points(view) + view->value[card]) / 16.0, ruff = trumps * (eager < 1 ? eager : 1);
        return higher > ruff ? higher : ruff;
    }
    double ruff = (1 - follow) * trumps;
    return ruff + (suit(view, card) == led ? higher * (1 - ruff) : 0);
}

/* A rough probability that a card, winning for a seat once played, is not beaten by the other side in this trick. */
static inline double chance_to_hold(const View *view, int seat, int card) {
    double chance = 1;
    for (int step = 1; step < view->seats; step++) {
        int other = (view->seat + step) % view->seats;
        if (follows(view, other) && !together(view, other, seat)) chance *= 1 - chance_to_beat(view, other, card, view->led ? view->led : suit(view, card));
    }
    return chance;
}

/* The points of the pairs that the trick would contain with a card, if the rules let its winner score them. */
static inline int songs_on_table(const View *view, int card) {
    Cards laid = bit(card);
    int sum = 0, early = !strcmp(view->table_songs, "forced_first_40");
    if (!strcmp(view->table_songs, "none")) return 0;
    for (int one = 0; one < view->on_table; one++) laid |= bit(view->table[one]);
    for (const char *of = "oceb"; *of; of++)
        if (!(of_ranks(view, view->pair, *of) & ~laid)) sum = early ? (view->trump ? 20 : 40) : sum + song_value(view, *of);
    return sum;
}

/* The cards that you may play, without those that would break a pair still to be sung, unless no others are left. */
static inline Cards loose_cards(const View *view) {
    Cards cards = 0;
    for (int one = 0; one < view->choices; one++) cards |= bit(plays(view, view->legal[one]));
    return cards & ~pairs(view) ? cards & ~pairs(view) : cards;
}
