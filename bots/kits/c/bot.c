/* A small bot in C: it announces whatever it can, and plays the card that gains most in this trick on average over some deals of the hidden cards.
 *
 * tute.h beside it has the dialogue, the view and the deals. The league builds every .c file of the package; tute bot build does so at home.
 */
#include "tute.h"

#define DEALS 30

/* True if no opponent who plays after us holds a card that beats ours in this deal. */
static int stands(const View *view, int card, const Deal *with) {
    for (int step = 1; step < view->seats - view->on_table; step++) {
        int seat = (view->seat + step) % view->seats;
        for (int other = 0; other < view->size && !together(view, seat, view->seat); other++) {
            if (!(with->hands[seat] & bit(other))) continue;
            if (suit(view, other) == suit(view, card) ? other < card : suit(view, other) == view->trump) return 0;
        }
    }
    return 1;
}

/* The worth of a card in this trick: the points on the table if it wins, minus its own if it loses. */
static double worth(View *view, int card, const Deal *deals, int dealt) {
    int pot = view->value[card], won = 0;
    for (int one = 0; one < view->on_table; one++) pot += view->value[view->table[one]];
    if (view->best < 0 || beats(view, card, view->table[view->best]))
        for (int one = 0; one < dealt; one++) won += stands(view, card, &deals[one]);
    double share = dealt ? (double)won / dealt : 0;
    return share * pot - (1 - share) * view->value[card] - view->value[card] / 4.0;
}

static const char *choose(View *view) {
    static Deal deals[DEALS];
    const char *best = view->legal[0];
    double most = -1000;
    int dealt = 0;
    while (dealt < DEALS && deal(view, &view->seed, &deals[dealt])) dealt++;
    for (int one = 0; one < view->choices; one++) {
        const char *action = view->legal[one];
        int card = plays(view, action);
        double liked = card >= 0 ? worth(view, card, deals, dealt) : 0;
        if (!strncmp(action, "tute ", 5) || !strncmp(action, "sing ", 5) || !strncmp(action, "exchange ", 9)) liked = 300;
        if (!strcmp(action, "pass")) liked = 200;
        if (!strcmp(action, "claim") || !strcmp(action, "capote") || !strncmp(action, "accuse ", 7)) liked = -500;
        if (liked > most) {
            most = liked;
            best = action;
        }
    }
    return best;
}

int main(void) { return run("kit c", choose); }
