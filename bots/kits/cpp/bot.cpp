// A small bot in C++: it announces whatever it can, and plays the card that gains most in this trick on average over some deals of the hidden cards.
//
// tute.h beside it has the dialogue, the view and the deals. The league builds every .cpp file of the package; tute bot build does so at home.
#include <string_view>
#include <vector>

#include "tute.h"

constexpr int DEALS = 30;

// True if no opponent who plays after us holds a card that beats ours in this deal.
static bool stands(const View &view, int card, const Deal &deal) {
    for (int step = 1; step < view.seats - view.on_table; step++) {
        int seat = (view.seat + step) % view.seats;
        for (int other = 0; other < view.size && !together(&view, seat, view.seat); other++) {
            if (!(deal.hands[seat] & bit(other))) continue;
            if (suit(&view, other) == suit(&view, card) ? other < card : suit(&view, other) == view.trump) return false;
        }
    }
    return true;
}

// The worth of a card in this trick: the points on the table if it wins, minus its own if it loses.
static double worth(View &view, int card, const std::vector<Deal> &deals) {
    int pot = view.value[card], won = 0;
    for (int one = 0; one < view.on_table; one++) pot += view.value[view.table[one]];
    if (view.best < 0 || beats(&view, card, view.table[view.best]))
        for (const Deal &deal : deals) won += stands(view, card, deal);
    double share = deals.empty() ? 0 : static_cast<double>(won) / static_cast<double>(deals.size());
    return share * pot - (1 - share) * view.value[card] - view.value[card] / 4.0;
}

static double liking(View &view, const char *text, const std::vector<Deal> &deals) {
    std::string_view action = text, word = action.substr(0, action.find(' '));
    if (word == "tute" || word == "sing" || word == "exchange") return 300;
    if (word == "pass") return 200;
    if (word == "claim" || word == "capote" || word == "accuse") return -500;
    int card = plays(&view, text);
    return card >= 0 ? worth(view, card, deals) : 0;
}

static const char *choose(View *view) {
    std::vector<Deal> deals;
    for (Deal next; deals.size() < DEALS && deal(view, &view->seed, &next);) deals.push_back(next);
    const char *best = view->legal[0];
    double most = -1000;
    for (int one = 0; one < view->choices; one++) {
        double liked = liking(*view, view->legal[one], deals);
        if (liked > most) {
            most = liked;
            best = view->legal[one];
        }
    }
    return best;
}

int main() { return run("kit c++", choose); }
