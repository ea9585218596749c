/* Answers with the first legal action, and tells on standard error what the library of the kit in C knows, a JSON object a request.
 * Its argument is the number of deals. */
#include "tute.h"

static int deals = 4;

static void cards(const char *key, const View *view, const int *list, int size) {
    fprintf(stderr, "\"%s\":[", key);
    for (int one = 0; one < size; one++) fprintf(stderr, "%s\"%s\"", one ? "," : "", view->name[list[one]]);
    fprintf(stderr, "],");
}

static void sets(const char *key, const View *view, const Cards *found) {
    fprintf(stderr, "\"%s\":[", key);
    for (int seat = 0; seat < view->seats; seat++) {
        fprintf(stderr, "%s\"", seat ? "," : "");
        for (int card = 0; card < view->size; card++)
            if (found[seat] & bit(card)) fprintf(stderr, "%s ", view->name[card]);
        fprintf(stderr, "\"");
    }
    fprintf(stderr, "],");
}

static void letter(const char *key, char suit) { fprintf(stderr, "\"%s\":\"%.1s\",", key, &suit); }

static const char *choose(View *view) {
    Cards all[SEATS] = {0};
    fprintf(stderr, "{");
    letter("led", view->led);
    letter("trump", view->trump);
    cards("table", view, view->table, view->on_table);
    cards("played", view, view->played, view->plays);
    cards("shown", view, &view->shown, view->shown >= 0);
    all[0] = view->hand, all[1] = view->unseen;
    sets("own", view, all);
    sets("known", view, view->known);
    for (int seat = 0; seat < view->seats; seat++) {
        all[seat] = 0;
        for (int card = 0; card < view->size; card++)
            if (view->unseen & bit(card) && lacks(view, seat, card)) all[seat] |= bit(card);
    }
    sets("lacks", view, all);
    fprintf(stderr, "\"not_all\":[");
    for (int seat = 0; seat < view->seats; seat++) {
        const char *between = "";
        fprintf(stderr, seat ? ",[" : "[");
        for (int one = 0; one < SETS; one++) {
            if (!view->not_all[seat][one]) continue;
            fprintf(stderr, "%s\"", between);
            for (int card = 0; card < view->size; card++)
                if (view->not_all[seat][one] & bit(card)) fprintf(stderr, "%s ", view->name[card]);
            fprintf(stderr, "\"");
            between = ",";
        }
        fprintf(stderr, "]");
    }
    fprintf(stderr, "],");
    for (int one = 0; one < deals; one++) {
        Deal found = {0};
        char key[16];
        snprintf(key, sizeof key, "deal%d", one);
        if (!deal(view, &view->seed, &found)) fprintf(stderr, "\"none\":1,");
        sets(key, view, found.hands);
        snprintf(key, sizeof key, "rest%d", one);
        cards(key, view, found.rest, found.resting);
    }
    int called[256], calls = 0;
    for (int one = 0; one < view->choices; one++)
        if (plays(view, view->legal[one]) >= 0) called[calls++] = plays(view, view->legal[one]);
    cards("plays", view, called, calls);
    fprintf(stderr, "\"numbers\":[%d,%d", view->stock, view->best);
    for (int seat = 0; seat < view->seats; seat++) fprintf(stderr, ",%d,%d", view->counts[seat], points(view, view->side[seat]));
    fprintf(stderr, "]}\n");
    return view->legal[0];
}

int main(int count_of, char **words) {
    if (count_of > 1) deals = atoi(words[1]);
    return run("view", choose);
}
