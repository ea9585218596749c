// The house bot `greedy` in C++: it announces whatever pays, and plays the card with the best trick, less what the card is worth later.
//
// tute.h beside it has the dialogue, the view and deals of the hidden cards; sense.h has announcements and rough chances. The league builds every
// .cpp file of the package; tute bot build does so at home.
#include <optional>
#include <string_view>

#include "sense.h"

constexpr double COMING = 3; // points that each seat still to play adds to a trick, on average
constexpr double TRICK = 10; // worth of a trick in games that count tricks, not points

// The points that the trick is expected to bring our side (minus: theirs) if we play the card.
static double trick_value(const View &view, int card) {
    int after = 0, partners = 0;
    for (int seat = 0; seat < view.seats; seat++) {
        after += follows(&view, seat);
        partners += seat != view.seat && !view.out[seat] && together(&view, seat, view.seat);
    }
    std::string_view result = view.result;
    double worth = trick_points(&view) + view.value[card] + songs_on_table(&view, card) + COMING * after;
    if (result == "trick_commitments" || result == "exact_prediction") worth = TRICK;
    if (count(view.hand) == 1) worth += view.bonus;
    if (view.best < 0 || beats(&view, card, view.table[view.best])) return worth * (2 * chance_to_hold(&view, view.seat, card) - 1);
    int winner = view.by[view.best], winning = view.table[view.best];
    if (together(&view, winner, view.seat)) return worth * (2 * chance_to_hold(&view, winner, winning) - 1);
    return worth * (1 - 2 * (partners ? chance_to_hold(&view, winner, winning) : 1));
}

// The later worth of the card, in points.
static double price(const View &view, int card) {
    Cards others = view.unseen;
    for (Cards known : view.known) others |= known;
    if (suit(&view, card) == view.trump) return 3 + 1.2 * view.strength[card];
    bool is_master = !(others & above(&view, suit(&view, card), card));
    return is_master && view.value[card] ? 4 : 0.5 * view.strength[card];
}

static const char *choose(View *view) {
    const char *best = announce(view);
    if (best) return best;
    Cards loose = loose_cards(view);
    int way = aim(view);
    std::optional<double> most;
    for (int one = 0; one < view->choices; one++) {
        int card = plays(view, view->legal[one]);
        if (!(loose & bit(card))) continue;
        double gain = way * (trick_value(*view, card) - price(*view, card));
        if (!most || gain > *most) {
            most = gain;
            best = view->legal[one];
        }
    }
    return best;
}

int main() { return run("kit c++", choose); }
