/* The house bot `greedy` in C: it announces whatever pays, and plays the card with the best trick, less what the card is worth later.
 *
 * tute.h beside it has the dialogue, the view and deals of the hidden cards; sense.h has announcements and rough chances. The league builds every
 * .c file of the package; tute bot build does so at home.
 */
#include "sense.h"

#define COMING 3.0 /* points that each seat still to play adds to a trick, on average */
#define TRICK 10.0 /* worth of a trick in games that count tricks, not points */

/* The points that the trick is expected to bring our side (minus: theirs) if we play the card. */
static double trick_value(const View *view, int card) {
    int after = 0, partners = 0, seat = view->best < 0 ? view->seat : view->by[view->best];
    for (int other = 0; other < view->seats; other++) {
        after += follows(view, other);
        partners += other != view->seat && !view->out[other] && together(view, other, view->seat);
    }
    double worth = trick_points(view) + view->value[card] + songs_on_table(view, card) + COMING * after;
    if (!strcmp(view->result, "trick_commitments") || !strcmp(view->result, "exact_prediction")) worth = TRICK;
    if (count(view->hand) == 1) worth += view->bonus;
    if (view->best < 0 || beats(view, card, view->table[view->best])) return worth * (2 * chance_to_hold(view, view->seat, card) - 1);
    if (together(view, seat, view->seat)) return worth * (2 * chance_to_hold(view, seat, view->table[view->best]) - 1);
    return worth * (1 - 2 * (partners ? chance_to_hold(view, seat, view->table[view->best]) : 1));
}

/* The later worth of the card, in points. */
static double price(const View *view, int card) {
    Cards others = view->unseen;
    for (int seat = 0; seat < view->seats; seat++) others |= view->known[seat];
    if (suit(view, card) == view->trump) return 3 + 1.2 * view->strength[card];
    return !(others & above(view, suit(view, card), card)) && view->value[card] ? 4 : 0.5 * view->strength[card];
}

static const char *choose(View *view) {
    const char *best = announce(view);
    Cards loose = loose_cards(view);
    double most = 0;
    for (int one = 0, first = 1, way = best ? 0 : aim(view); way && one < view->choices; one++) {
        int card = plays(view, view->legal[one]);
        if (!(loose & bit(card))) continue;
        double gain = way * (trick_value(view, card) - price(view, card));
        if (first || gain > most) {
            most = gain;
            best = view->legal[one];
        }
        first = 0;
    }
    return best;
}

int main(void) { return run("kit c", choose); }
