/* The Tute League for bots in C and C++: the protocol, and the view of a seat. One file; it needs only the standard library.
 *
 *     #include "tute.h"
 *     static const char *choose(View *view) { return view->legal[0]; }
 *     int main(void) { return run("my bot", choose); }
 *
 * A card is its index in the pack of the game, suit by suit and strongest first: `name[card]` is its text, `card_of(view, "1o")` the inverse; -1 is
 * no card. A set of cards (`Cards`) has one bit per card. The kits in JavaScript and Rust use the same names and deal the same cards for a seed.
 *
 * Proofs by plays: a seat that breaks a duty holds no card that it would have had to play instead. The duties are to follow suit, to beat, to trump
 * and not to load a lost trick (`no_load`). After a hidden draw a seat may hold as many of those cards as it has drawn since. A seat that had to
 * sing and did not held no pair; a soloist calls a card of another seat; a seat that sings a hidden suit holds some pair. Calls in an auction prove
 * nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 65536 /* the longest line of the protocol */
#define SEATS 8
#define PACK 52
#define SETS 8   /* suits, and ranks of which there are tutes */
#define NEVER 99 /* no play proved that a seat lacks a card */
#define TRIES 10000 /* rejected deals before giving up; at the league's tables at least one deal in six agreed */

typedef uint64_t Cards;

/* --- JSON, as far as the protocol uses it: escapes in texts stay unchanged ------------------------------------------ */

typedef struct Json {
    char kind; /* { [ " 0 (number), t f n (true, false, null) */
    char *key, *text;
    double number;
    struct Json *child, *next;
} Json;

static Json nodes[LINE];
static int nodes_used;

static inline char *json_space(char *at) {
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
    return at;
}

/* End a text at its closing quote; `at` is just after the opening one. */
static inline char *json_text(char *at) {
    while (*at && *at != '"') at += *at == '\\' && at[1] ? 2 : 1;
    if (*at) *at++ = '\0';
    return at;
}

static inline Json *json_value(char **line) {
    if (nodes_used == LINE) exit(1);
    Json *found = &nodes[nodes_used++], **last = &found->child;
    char *at = json_space(*line);
    memset(found, 0, sizeof *found);
    found->kind = *at == '-' || (*at >= '0' && *at <= '9') ? '0' : *at;
    if (found->kind == '{' || found->kind == '[') {
        for (at = json_space(at + 1); *at && *at != '}' && *at != ']'; at = json_space(*at == ',' ? at + 1 : at)) {
            char *key = NULL;
            at = json_space(at);
            if (found->kind == '{') {
                key = at + 1;
                at = json_space(json_text(key)) + 1;
            }
            *last = json_value(&at);
            (*last)->key = key;
            last = &(*last)->next;
        }
        at += *at != '\0';
    } else if (found->kind == '"') {
        found->text = at + 1;
        at = json_text(found->text);
    } else if (found->kind == '0') {
        found->number = strtod(at, &at);
    } else {
        while (*at >= 'a' && *at <= 'z') at++;
        if (at == *line && *at) exit(1);
    }
    *line = at;
    return found;
}

/* The field of an object; NULL if it is missing or null. */
static inline Json *field(const Json *object, const char *key) {
    for (Json *one = object ? object->child : NULL; one; one = one->next)
        if (one->key && !strcmp(one->key, key)) return one->kind == 'n' ? NULL : one;
    return NULL;
}

static inline int number(const Json *object, const char *key, int otherwise) {
    Json *found = field(object, key);
    return found && found->kind == '0' ? (int)found->number : otherwise;
}

static inline const char *text(const Json *object, const char *key) {
    Json *found = field(object, key);
    return found && found->text ? found->text : "";
}

/* --- the rules of the games ---------------------------------------------------------------------------------------------------- */

// >>> written by `make texts` from engine/games; do not edit
static const char RULES[] =
    "{\"demands\":{\"free\":\"00000000000000000\",\"trump_follow\":\"00000000101010100\",\"follow\":\"10101010101010100\",\"follow_or_trump\":\"11111111101010100\",\"strict none false false\":\"21211313202010101\",\"strict none false true\":\"21212323202010101\",\"strict none true false\":\"21211212202010101\",\"strict none true true\":\"21212222202010101\",\"strict trump_only false false\":\"21201310202010101\",\"strict trump_only false true\":\"21202320202010101\",\"strict trump_only true false\":\"21201210202010101\",\"strict trump_only true true\":\"21202220202010101\",\"strict all false false\":\"21101310201010101\",\"strict all false true\":\"21102310201010101\",\"strict all true false\":\"21101210201010101\",\"strict all true true\":\"21102210201010101\"},\"tute\":{\"sides\":\"single\",\"deck\":\"es40\",\"rank_order\":\"13RCS76542\",\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"C\":3,\"S\":2},\"auction\":\"none\",\"passed_may_join\":null,\"call_own_card\":\"forbidden\",\"obligation_stock_open\":\"free\",\"obligation_stock_empty\":\"strict\",\"partner_exempt\":\"none\",\"undertrump\":false,\"beat_after_trumped\":false,\"no_load\":false,\"hand_songs\":\"trick_winner\",\"pair_ranks\":\"RC\",\"songs_per_trick\":1,\"song_order\":\"any\",\"song_values\":{\"trump\":40,\"other\":20},\"table_songs\":\"none\",\"sing_first_trick_only\":false,\"singing_mandatory\":false,\"tute\":\"wins\",\"tute_ranks\":\"RC\",\"tute_first_trick_only\":false,\"last_trick_bonus\":10,\"result\":\"most_points_wins\",\"target\":null,\"settlement\":\"games\",\"illegal_move\":\"reject\"},\"games\":{"
    "\"a_dos\":{\"result\":\"fewest_points_loses\",\"settlement\":\"loss_marks\"},"
    "\"americano\":{\"obligation_stock_open\":\"trump_follow\",\"tute\":\"none\",\"result\":\"to_target\",\"target\":121},"
    "\"arrastrado\":{\"song_order\":\"forty_first\",\"settlement\":\"chips\"},"
    "\"bato\":{\"rank_points\":{},\"auction\":\"play_then_join\",\"passed_may_join\":true,\"hand_songs\":\"none\",\"tute\":\"none\",\"last_trick_bonus\":0,\"result\":\"trick_commitments\",\"settlement\":\"chips\"},"
    "\"brisca\":{\"sides\":{\"2p\":\"single\",\"3p\":\"single\",\"4p\":\"pairs\"},\"deck\":{\"2p\":\"es40\",\"3p\":\"es36\",\"4p\":\"es40\"},\"obligation_stock_empty\":\"free\",\"hand_songs\":\"none\",\"tute\":\"none\",\"last_trick_bonus\":0},"
    "\"cabrero\":{\"result\":\"middle_loses\",\"settlement\":\"loss_marks\"},"
    "\"chancho\":{\"table_songs\":\"forced\",\"result\":\"middle_loses\",\"settlement\":\"loss_marks\"},"
    "\"codillo\":{\"sides\":\"soloist_pair_vs_rest\",\"auction\":\"play_or_pass\",\"no_load\":true,\"result\":\"soloist_side_more_points\",\"settlement\":\"chips\"},"
    "\"corriente\":{\"result\":\"to_target\",\"target\":101},"
    "\"gana_pierde_3\":{\"deck\":\"es36\",\"rank_order\":\"13RCS7654\",\"hand_songs\":\"none\",\"table_songs\":\"forced_first_40\",\"tute\":\"none\",\"result\":\"middle_of_three_loses\",\"settlement\":\"loss_marks\"},"
    "\"gana_pierde_4_5\":{\"song_order\":\"forty_first\",\"table_songs\":\"forced\",\"tute\":\"none\",\"result\":\"most_points_loses_unless_101\",\"settlement\":\"loss_marks\"},"
    "\"guinote\":{\"sides\":{\"2p\":\"single\",\"3p\":\"single\",\"4p\":\"pairs\"},\"rank_order\":\"13RSC76542\",\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"partner_exempt\":\"all\",\"hand_songs\":\"winning_side\",\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\",\"result\":\"to_target\",\"target\":101},"
    "\"habanero\":{\"result\":\"to_target\",\"target\":101},"
    "\"havanian\":{\"obligation_stock_open\":\"trump_follow\",\"tute\":\"none\",\"result\":\"to_target\",\"target\":101},"
    "\"individual\":{\"obligation_stock_open\":\"strict\",\"song_order\":\"forty_first\"},"
    "\"partnership\":{\"sides\":\"pairs\",\"song_order\":\"forty_first\"},"
    "\"podrida\":{\"rank_points\":{},\"auction\":\"trick_prediction\",\"obligation_stock_empty\":\"follow\",\"hand_songs\":\"none\",\"tute\":\"none\",\"last_trick_bonus\":0,\"result\":\"exact_prediction\",\"settlement\":\"points\"},"
    "\"remate\":{\"sides\":\"soloist_vs_rest\",\"deck\":{\"3p\":\"es36\",\"4p\":\"es40\",\"5p\":\"es40\"},\"auction\":\"points\",\"no_load\":true,\"hand_songs\":\"soloist\",\"result\":\"soloist_reaches_bid\",\"settlement\":\"chips\"},"
    "\"subastado\":{\"sides\":\"soloist_vs_rest\",\"deck\":\"es36\",\"rank_order\":\"13RCS7654\",\"auction\":\"points\",\"hand_songs\":\"soloist\",\"song_order\":\"forty_first\",\"tute\":\"none\",\"result\":\"soloist_reaches_bid\",\"settlement\":\"chips\"},"
    "\"two_player\":{\"obligation_stock_open\":\"strict\",\"songs_per_trick\":\"many\",\"song_order\":\"forty_first_in_window\"},"
    "\"variable_trump\":{\"sides\":\"pairs\",\"hand_songs\":\"winning_side\",\"song_values\":{\"trump\":20,\"other\":20},\"tute_first_trick_only\":true}"
    "},\"implied\":{\"a_dos\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"americano\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"arrastrado\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"bato\":{\"no_load=true\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"C\":3,\"S\":2}},\"match_end=losses\":{\"settlement\":\"loss_marks\"}},\"brisca\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"cabrero\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"chancho\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"codillo\":{\"match_end=losses\":{\"settlement\":\"loss_marks\"},\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"corriente\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"gana_pierde_3\":{\"rank_order=13RSC7654\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"gana_pierde_4_5\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"habanero\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"havanian\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"individual\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"partnership\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"podrida\":{\"preset=podrida52\":{\"deck\":\"fr52\",\"rank_order\":\"AKQJT98765432\"}},\"remate\":{\"match_end=elimination\":{\"settlement\":\"loss_marks\"},\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"subastado\":{\"rank_order=13RSC7654\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"two_player\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}}}}";
// <<< written by `make texts`

/* --- the knowledge of a seat --------------------------------------------------------------------------------------------------------- */

/* A song whose suit is hidden, with the pair of each suit that it may be. */
typedef struct Song {
    int seat, may[4];
    Cards pair[4];
} Song;

typedef struct View {
    char game[32];
    int seats, seat;       /* how many, and which is yours */
    int side[SEATS];       /* the side of each seat */
    unsigned seed;         /* for your own random choices */
    int size;              /* cards in the pack */
    char name[PACK][3];    /* the text of each card */
    int value[PACK];       /* card points */
    int strength[PACK];    /* within the suit, 0 for the weakest */
    Cards hand;            /* your cards */
    int table[SEATS], by[SEATS], on_table; /* the trick: its cards, who played them, how many */
    int best;              /* index on the table of the winning card, -1 before a lead */
    char led, trump;       /* suits, or 0 */
    int shown;             /* the card that fixed the trump while it is on the table or in the hand that first held it */
    int stock;             /* cards to be drawn, the shown one included */
    int played[PACK], plays; /* cards of the deal in order */
    Cards unseen;          /* cards whose place you do not know */
    Cards known[SEATS];    /* cards that a seat certainly holds; not your own */
    int counts[SEATS];     /* cards left in each hand */
    Cards barred[SEATS];   /* cards that a seat did not hold at its last play, by the duties; a hidden draw ends this knowledge */
    Cards not_all[SEATS][SETS]; /* sets of which a seat does not hold every card; 0: nothing is known */
    Song songs[4];         /* whose suit is hidden */
    int hidden;            /* their number */
    int tricks[SEATS], winner; /* how many each seat has won in this deal; who won the last one, or -1 */
    int scored[SEATS];     /* cards, songs and last trick in this deal, by seat */
    int soloist, partner;  /* from an auction, or -1 */
    int out[SEATS];        /* 1 for a seat that is not in this deal */
    char call[SEATS][16];  /* the last call of each seat in an auction */
    int predicted[SEATS];  /* tricks that a seat says it will take */
    int totals[SEATS];     /* points carried into this deal, by side */
    int target, song_trump, song_other; /* points that win the match, or 0; points of songs */
    char result[32], settlement[16], table_songs[24], stock_duty[16]; /* words of the rules book: `stock_duty` is obligation_stock_open */
    const char *legal[256]; /* the legal answers */
    int choices;
    /* for each unseen card that a seat was proved to lack, the number of hidden cards that the seat has drawn since; else NEVER */
    int age[SEATS][PACK];
    int open, notice, by_auction, bonus, proves, no_load, calls_own, joins, pass_ends;
    int must_sing, most_songs, sing_first, tute_first, said[SEATS], twenty[SEATS], sung[4]; /* `said`: songs since the last trick */
    char demands_open[24], demands_empty[24], singers[24], order[24], pair[8], tutes[8];
} View;

typedef struct Deal {
    Cards hands[SEATS]; /* your own among them */
    int rest[PACK], resting; /* cards in no hand: the stock, face down, and cards that others put away */
} Deal;

static inline Cards bit(int card) { return card < 0 ? 0 : (Cards)1 << card; }
static inline char suit(const View *view, int card) { return view->name[card][1]; }

static inline int count(Cards cards) {
    int found = 0;
    for (; cards; cards &= cards - 1) found++;
    return found;
}

static inline int card_of(const View *view, const char *card) {
    for (int one = 0; one < view->size; one++)
        if (!strcmp(view->name[one], card)) return one;
    return -1;
}

/* The card that a legal text plays, or -1. */
static inline int plays(const View *view, const char *action) {
    return strncmp(action, "play ", 5) ? -1 : card_of(view, action + 5);
}

static inline int together(const View *view, int a, int b) {
    if (view->by_auction && view->soloist >= 0)
        return (a == view->soloist || a == view->partner) == (b == view->soloist || b == view->partner);
    return view->side[a] == view->side[b];
}

static inline int points(const View *view, int side) {
    int sum = 0;
    for (int seat = 0; seat < view->seats; seat++)
        if (view->side[seat] == side) sum += view->scored[seat];
    return sum;
}

/* True if a card, played later, beats another one of this trick. */
static inline int beats(const View *view, int card, int other) {
    if (suit(view, card) == suit(view, other)) return card < other;
    if (suit(view, card) == view->trump) return 1;
    return suit(view, card) == view->led && suit(view, other) != view->trump;
}

/* True if a seat certainly does not hold a card. */
static inline int lacks(const View *view, int seat, int card) {
    if (seat == view->seat) return !(view->hand & bit(card));
    if (view->known[seat] & bit(card)) return 0;
    return !(view->unseen & bit(card)) || view->age[seat][card] == 0;
}

/* True if a seat certainly holds no card of a suit. */
static inline int is_void(const View *view, int seat, char of) {
    for (int card = 0; card < view->size; card++)
        if (suit(view, card) == of && !lacks(view, seat, card)) return 0;
    return 1;
}

/* Record that a card turned up that the seat was proved to lack: the seat has drawn it since. */
static inline void uncover(View *view, int seat, int card) {
    if (card < 0 || !(view->unseen & bit(card))) return;
    view->unseen &= ~bit(card);
    int age = view->age[seat][card];
    for (int other = 0; age != NEVER && other < view->size; other++)
        if (view->age[seat][other] != NEVER && view->age[seat][other] >= age && view->age[seat][other] > 0) view->age[seat][other]--;
}

/* Put a card into a hand; -1 if it is hidden. */
static inline void comes(View *view, int seat, int card) {
    if (card < 0) {
        view->barred[seat] = 0;
        for (int one = 0; one < view->size; one++)
            if (view->age[seat][one] != NEVER) view->age[seat][one]++;
        return;
    }
    view->unseen &= ~bit(card);
    *(seat == view->seat ? &view->hand : &view->known[seat]) |= bit(card);
}

static inline void goes(View *view, int seat, int card) {
    uncover(view, seat, card);
    *(seat == view->seat ? &view->hand : &view->known[seat]) &= ~bit(card);
    /* The singer need not hold a pair any longer once a card of it is played; a pair of which another seat had a card was not sung. */
    for (Song *song = view->songs; song < view->songs + view->hidden; song++)
        for (int of = 0; of < 4; of++) {
            if (song->seat == seat) song->pair[of] &= ~bit(card);
            else if (song->pair[of] & bit(card)) song->may[of] = 0;
        }
}

static inline void shows(View *view, int seat, const Json *cards) {
    for (Json *one = cards ? cards->child : NULL; one; one = one->next) {
        int card = card_of(view, one->text);
        uncover(view, seat, card);
        if (seat != view->seat) view->known[seat] |= bit(card);
    }
}

static inline void judge_table(View *view) {
    view->best = view->on_table ? 0 : -1;
    for (int one = 1; one < view->on_table; one++)
        if (beats(view, view->table[one], view->table[view->best])) view->best = one;
}

/* The best card of a suit on the table, or -1. */
static inline int best_of(const View *view, char of) {
    int best = -1;
    for (int one = 0; of && one < view->on_table; one++)
        if (suit(view, view->table[one]) == of && (best < 0 || view->table[one] < best)) best = view->table[one];
    return best;
}

/* The demands of a duty on a follower's cards of one suit: none; one of them; a higher one, else one of them; a higher one, else any card. */
enum { ANY = '0', ALL, HIGHER_OR_ALL, HIGHER_OR_ANY };

/* The class of a card under the duties of a seat: the seat must play a card of a lower class before one of a higher. */
static inline int duty(const View *view, int seat, int card) {
    const char *demands = view->open ? view->demands_open : view->demands_empty;
    int followed = suit(view, card) == view->led, trumps = suit(view, card) == view->trump, place = followed ? 0 : 200;
    int situation = together(view, view->by[view->best], seat) + (view->led == view->trump ? 4 : best_of(view, view->trump) >= 0 ? 2 : 0);
    char demand = followed || trumps ? demands[2 * situation + !followed] : ANY;
    /* if no card can win, the cards of least value come first */
    int load = demands[16] == '1' && view->no_load && !beats(view, card, view->table[view->best]) ? view->value[card] : 0;
    if (demand == ALL || (demand != ANY && card < best_of(view, suit(view, card)))) return load + place;
    return load + (demand == HIGHER_OR_ALL ? place + 100 : 400);
}

/* The cards of a suit that beat one of them; all if it is -1. */
static inline Cards above(const View *view, char of, int best) {
    Cards cards = 0;
    for (int card = 0; card < view->size; card++)
        if (suit(view, card) == of && (best < 0 || card < best)) cards |= bit(card);
    return cards;
}

/* Record which cards of the suit led and of trumps a seat lacks now. */
static inline void bar(View *view, int seat, int card) {
    int trumped = view->led == view->trump ? 4 : best_of(view, view->trump) >= 0 ? 2 : 0;
    const char *demand = (view->open ? view->demands_open : view->demands_empty) + 2 * (trumped + together(view, view->by[view->best], seat));
    for (int trumps = 0; trumps < 2; trumps++, demand++) {
        char of = trumps ? view->trump : view->led;
        int best = best_of(view, of);
        if (suit(view, card) == of) {
            if (*demand >= HIGHER_OR_ALL && best >= 0 && card > best) view->barred[seat] |= above(view, of, best);
            return;
        }
        if (*demand != ANY && of) view->barred[seat] |= above(view, of, *demand == HIGHER_OR_ANY ? best : -1);
    }
}

/* Record what a card proves about the hand that it comes from. */
static inline void learn(View *view, int seat, int card) {
    if (!view->proves || !view->led) return;
    bar(view, seat, card);
    for (int other = 0; other < view->size; other++)
        if (view->unseen & bit(other) && duty(view, seat, other) < duty(view, seat, card)) view->age[seat][other] = 0;
}

/* The cards of some ranks, in one suit or in all (0). */
static inline Cards of_ranks(const View *view, const char *ranks, char of) {
    Cards found = 0;
    for (int card = 0; card < view->size; card++)
        if (strchr(ranks, view->name[card][0]) && (!of || suit(view, card) == of)) found |= bit(card);
    return found;
}

/* Games with this duty have no stock, so what was not sung cannot be drawn later. */
static inline void unsung(View *view, int seat) {
    int tricks = 0, twenties = 0;
    for (int other = 0; other < view->seats; other++) {
        if (!together(view, other, seat)) continue;
        tricks += view->tricks[other];
        if (other == seat || !strcmp(view->order, "forty_first_side")) twenties += view->twenty[other];
    }
    if (strcmp(view->singers, "winning_side") ? seat != view->winner : !together(view, seat, view->winner)) return;
    if (view->said[seat] >= view->most_songs || (view->sing_first && tricks != 1)) return;
    for (int of = 0; of < 4; of++) { /* a twenty may forbid the forty */
        if (view->sung[of] || ("oceb"[of] == view->trump && twenties && strcmp(view->order, "any"))) continue;
        view->not_all[seat][of] = of_ranks(view, view->pair, "oceb"[of]);
    }
    if (view->tute_first && tricks != 1) return;
    for (int one = 0; view->tutes[one]; one++) {
        char rank[2] = {view->tutes[one], '\0'};
        view->not_all[seat][4 + one] = of_ranks(view, rank, 0);
    }
}

/* Record, once nobody can sing any more before the next lead, that a seat that had to sing and did not held no pair. */
static inline void before_lead(View *view) {
    for (int seat = 0; seat < view->seats && !view->on_table; seat++) {
        if (seat != view->seat && view->winner >= 0 && view->must_sing) unsung(view, seat);
    }
}

static inline void hidden_song(View *view, int seat) {
    if (view->hidden == 4) return;
    Song *song = &view->songs[view->hidden++];
    song->seat = seat;
    for (int of = 0; of < 4; of++) {
        song->pair[of] = of_ranks(view, view->pair, "oceb"[of]);
        song->may[of] = !(song->pair[of] & ~(view->unseen | view->known[seat])) && !view->sung[of] && "oceb"[of] != view->trump;
    }
}

static inline void carry(View *view, const Json *event) {
    int side = 0;
    for (Json *one = field(event, "totals") ? field(event, "totals")->child : NULL; one; one = one->next) view->totals[side++] = (int)one->number;
}

/* Record, in a game where seats join a soloist, who stays out once every seat has decided. */
static inline void decide(View *view) {
    for (int seat = 0; seat < view->seats; seat++) {
        const char *call = view->call[seat];
        if (!view->out[seat] && (!*call || (!strcmp(call, "pass") && !view->pass_ends))) return;
    }
    for (int seat = 0; seat < view->seats; seat++) view->out[seat] = strcmp(view->call[seat], "play") && strcmp(view->call[seat], "join");
}

static inline void begin_deal(View *view, const Json *event) {
    int holder = number(event, "holder", -1);
    view->unseen = bit(view->size) - 1;
    view->hand = 0;
    for (int seat = 0; seat < view->seats; seat++) {
        view->known[seat] = view->barred[seat] = 0;
        view->out[seat] = view->predicted[seat] = 0;
        view->call[seat][0] = '\0';
        view->counts[seat] = view->scored[seat] = view->tricks[seat] = view->said[seat] = view->twenty[seat] = 0;
        memset(view->not_all[seat], 0, sizeof view->not_all[seat]);
        for (int card = 0; card < view->size; card++) view->age[seat][card] = NEVER;
    }
    for (Json *one = field(event, "hand")->child; one; one = one->next) comes(view, view->seat, card_of(view, one->text));
    int seat = 0;
    for (Json *one = field(event, "counts")->child; one; one = one->next) view->counts[seat++] = (int)one->number;
    for (Json *one = field(event, "out") ? field(event, "out")->child : NULL; one; one = one->next) view->out[(int)one->number] = 1;
    if (number(event, "deal", 0) == 1) memset(view->totals, 0, sizeof view->totals);
    carry(view, event);
    view->trump = text(event, "trump")[0];
    view->stock = number(event, "stock", 0);
    view->shown = card_of(view, text(event, "shown"));
    view->unseen &= ~bit(view->shown);
    if (holder >= 0 && holder != view->seat) view->known[holder] |= bit(view->shown);
    view->on_table = view->plays = view->led = 0;
    view->best = view->soloist = view->partner = view->notice = view->winner = -1;
    memset(view->sung, 0, sizeof view->sung);
    /* In a game without a stock the shown card lies on the table until the first lead. */
    view->hidden = 0;
}

/* Update the view by an event. Kinds that change nothing here are ignored. */
static inline void see(View *view, const Json *event) {
    const char *kind = text(event, "e");
    int seat = number(event, "seat", -1), card = card_of(view, text(event, "card"));
    if (!strcmp(kind, "deal")) {
        begin_deal(view, event);
    } else if (!strcmp(kind, "play")) {
        before_lead(view);
        goes(view, seat, card);
        view->counts[seat]--;
        if (!view->on_table) {
            view->led = suit(view, card);
            view->open = view->stock > 0;
        } else if (seat != view->seat) {
            learn(view, seat, card);
        }
        view->played[view->plays++] = card;
        view->by[view->on_table] = seat;
        view->table[view->on_table++] = card;
        judge_table(view);
    } else if (!strcmp(kind, "trick")) {
        view->scored[seat] += number(event, "points", 0) + (field(event, "last") ? view->bonus : 0);
        view->tricks[seat]++;
        view->winner = seat;
        memset(view->said, 0, sizeof view->said);
        view->on_table = view->led = 0;
        view->best = -1;
    } else if (!strcmp(kind, "draw")) {
        view->counts[seat]++;
        if (view->stock) view->stock--;
        if (seat != view->seat || card >= 0) comes(view, seat, card);
    } else if (!strcmp(kind, "take")) {
        view->counts[seat]++;
        comes(view, seat, card);
        view->shown = -1;
    } else if (!strcmp(kind, "notice")) {
        view->notice = card;
        goes(view, seat, card);
        view->counts[seat]--;
    } else if (!strcmp(kind, "return")) {
        view->notice = -1;
        comes(view, seat, card);
        view->counts[seat]++;
    } else if (!strcmp(kind, "exchange")) {
        int gives = card_of(view, text(event, "gives"));
        if (view->notice == gives) {
            view->notice = -1;
            view->counts[seat]++;
        }
        goes(view, seat, gives);
        comes(view, seat, card_of(view, text(event, "takes")));
        view->shown = gives;
    } else if (!strcmp(kind, "discard")) {
        Json *cards = field(event, "cards");
        view->counts[seat] -= number(event, "count", 0);
        for (Json *one = cards ? cards->child : NULL; one; one = one->next) goes(view, seat, card_of(view, one->text));
        if (!cards) { /* the seat may have put away cards that it had shown */
            view->unseen |= view->known[seat];
            view->known[seat] = 0;
        }
    } else if (!strcmp(kind, "song") || !strcmp(kind, "tute")) {
        char of = text(event, "suit")[0];
        view->scored[seat] += number(event, "points", 0);
        if (of && strchr("oceb", of)) view->sung[strchr("oceb", of) - "oceb"] = 1;
        if (field(event, "table")) return;
        view->said[seat]++;
        if (of != view->trump) view->twenty[seat] = 1;
        if (!of && !strcmp(kind, "song")) hidden_song(view, seat);
        shows(view, seat, field(event, "cards"));
    } else if (!strcmp(kind, "look")) {
        shows(view, number(event, "of", 0), field(event, "cards"));
    } else if (!strcmp(kind, "reveal")) {
        if (seat != view->seat) {
            uncover(view, seat, card);
            view->known[seat] |= bit(card);
        }
        if (field(event, "shown")) view->shown = card_of(view, text(event, "shown"));
        view->unseen &= ~bit(view->shown);
    } else if (!strcmp(kind, "last_ten")) {
        if (!field(event, "taken") || field(event, "taken")->kind == 'f') view->scored[seat] -= view->bonus;
    } else if (!strcmp(kind, "trump")) {
        view->trump = text(event, "suit")[0];
        if (seat >= 0) view->soloist = seat;
        if (field(event, "lead")) view->led = text(event, "lead")[0];
        judge_table(view);
    } else if (!strcmp(kind, "call")) {
        const char *call = text(event, "call");
        snprintf(view->call[seat], sizeof view->call[seat], "%s", call);
        if (!strncmp(call, "bid", 3) || (!strcmp(call, "play") && view->soloist < 0)) view->soloist = seat;
        if (view->joins && view->soloist >= 0) decide(view);
    } else if (!strcmp(kind, "predict")) {
        view->predicted[seat] = number(event, "tricks", 0);
    } else if (!strcmp(kind, "score")) {
        carry(view, event);
    } else if (!strcmp(kind, "called")) {
        if (view->hand & bit(card)) view->partner = view->seat;
        else if (!view->calls_own) view->age[seat][card] = 0;
    } else if (!strcmp(kind, "partner")) {
        view->partner = seat;
    } else if (!strcmp(kind, "takeover")) {
        int of = number(event, "of", 0), cards = view->counts[seat];
        Cards mine = seat == view->seat ? view->known[of] : of == view->seat ? 0 : view->hand;
        view->known[seat] = of == view->seat ? view->hand : 0;
        view->known[of] = 0;
        view->hand = mine;
        view->counts[seat] = view->counts[of];
        view->counts[of] = cards;
        view->soloist = seat;
        view->out[of] = 1;
        view->out[seat] = 0;
    }
}

/* --- deals of the hidden cards -------------------------------------------------------------------------------------------------- */

/* A random number, at least 0 and below 1. It advances the seed (mulberry32, as in the other kits). */
static inline double chance(unsigned *seed) {
    uint32_t mixed = (*seed += 0x6D2B79F5u);
    mixed = (mixed ^ mixed >> 15) * (mixed | 1);
    mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61);
    return (mixed ^ mixed >> 14) / 4294967296.0;
}

static inline void shuffle(int *cards, int size, unsigned *seed) {
    for (int left = size; left > 1; left--) {
        int place = (int)(chance(seed) * left), card = cards[left - 1];
        cards[left - 1] = cards[place];
        cards[place] = card;
    }
}

/* The cards that some hand cannot hold, to be placed one after the other. Hands that may hold every card count as part of the rest. */
typedef struct Places {
    const View *view;
    int bound[PACK], bounds, unseen;
    int who[SEATS], hands, need[SEATS];
    int one_hand; /* True if one hand is hidden; then cards drawn since a proof are counted, too */
    double *ways; /* 0: not counted yet; -1: none */
} Places;

/* True if a card may go to a hand with this much room left. */
static inline int fits(const Places *places, int place, int hand, int room) {
    int age = places->view->age[places->who[hand]][places->bound[place]];
    return room > 0 && (places->one_hand ? places->need[hand] - room < age : age > 0);
}

/* The number of ways to place the cards from `place` on into the room of the hands; free cards are counted at the end. */
static inline double ways(Places *places, int place, int *room) {
    size_t key = (size_t)place;
    int left = places->unseen - place, rest = left;
    for (int hand = 0; hand < places->hands; hand++) {
        key = key * (size_t)(places->need[hand] + 1) + (size_t)room[hand];
        rest -= room[hand];
    }
    if (rest < 0) return 0;
    if (places->ways[key] != 0) return places->ways[key] < 0 ? 0 : places->ways[key];
    double found = 0;
    if (place == places->bounds) {
        found = 1;
        for (int hand = 0; hand < places->hands; hand++)
            for (int card = 1; card <= room[hand]; card++) found = found * left-- / card;
    } else {
        if (rest > 0) found = ways(places, place + 1, room);
        for (int hand = 0; hand < places->hands; hand++) {
            if (!fits(places, place, hand, room[hand])) continue;
            room[hand]--;
            found += ways(places, place + 1, room);
            room[hand]++;
        }
    }
    places->ways[key] = found > 0 ? found : -1;
    return found;
}

/* True if each song, from this one on, can have had a different suit. */
static inline int sung_from(const Song *song, const Song *end, const Cards *hands, int used) {
    if (song == end) return 1;
    for (int of = 0; of < 4; of++)
        if (song->may[of] && !(used >> of & 1) && !(song->pair[of] & ~hands[song->seat]) && sung_from(song + 1, end, hands, used | 1 << of)) return 1;
    return 0;
}

/* True if hands agree with the facts about more than one card. */
static inline int agrees(const View *view, const Cards *hands) {
    for (int seat = 0; seat < view->seats; seat++) {
        int drawn[NEVER + 1] = {0}, sum = 0;
        if (seat == view->seat) continue;
        for (int one = 0; one < SETS; one++)
            if (view->not_all[seat][one] && !(view->not_all[seat][one] & ~hands[seat])) return 0;
        for (int card = 0; card < view->size; card++)
            if (hands[seat] & view->unseen & bit(card)) drawn[view->age[seat][card]]++;
        for (int age = 0; age < NEVER; age++) /* of the cards that the seat was proved to lack it holds at most as many as it has drawn since */
            if ((sum += drawn[age]) > age) return 0;
    }
    return sung_from(view->songs, view->songs + view->hidden, hands, 0);
}

/* Put the unseen cards into hands: the bound ones by their counts, the others at random. */
static inline void place_cards(Places *places, Cards bound, unsigned *seed, Deal *found) {
    const View *view = places->view;
    int room[SEATS], need[SEATS], pool[PACK], pooled = 0, loose[PACK], loosed = 0;
    memcpy(room, places->need, sizeof room);
    for (int seat = 0; seat < view->seats; seat++) {
        found->hands[seat] = seat == view->seat ? view->hand : view->known[seat];
        need[seat] = seat == view->seat ? 0 : view->counts[seat] - count(view->known[seat]);
    }
    for (int place = 0; place < places->bounds; place++) {
        double mark = chance(seed) * ways(places, place, room);
        int goes_to = -1;
        for (int hand = 0; hand < places->hands && mark >= 0; hand++) {
            if (!fits(places, place, hand, room[hand])) continue;
            room[hand]--;
            double there = ways(places, place + 1, room);
            room[hand]++;
            if (there > 0 && (mark -= there) < 0) goes_to = hand;
        }
        if (goes_to < 0) {
            pool[pooled++] = places->bound[place];
        } else {
            room[goes_to]--;
            found->hands[places->who[goes_to]] |= bit(places->bound[place]);
        }
    }
    for (int card = 0; card < view->size; card++)
        if (view->unseen & ~bound & bit(card)) loose[loosed++] = card;
    shuffle(loose, loosed, seed);
    for (int hand = 0; hand < places->hands; hand++) {
        need[places->who[hand]] = 0;
        while (room[hand]-- > 0) found->hands[places->who[hand]] |= bit(loose[--loosed]);
    }
    while (loosed > 0) pool[pooled++] = loose[--loosed];
    shuffle(pool, pooled, seed);
    for (int seat = 0; seat < view->seats; seat++)
        while (need[seat]-- > 0 && pooled) found->hands[seat] |= bit(pool[--pooled]);
    found->resting = pooled;
    memcpy(found->rest, pool, sizeof pool);
}

/* A deal of the hidden cards that agrees with all facts; 0 if none does, or if none was found in TRIES draws. Every placement has the same chance,
 * except for the rounding of doubles, because the placements left after each choice are counted. Hand sizes, known cards and lacking cards never
 * cause a rejection; with one hidden hand, cards drawn since a proof do not either. A deal that contradicts a fact about several cards is rejected.
 */
static inline int deal(const View *view, unsigned *seed, Deal *found) {
    Places places = {.view = view, .unseen = count(view->unseen)};
    int need[SEATS], hidden = 0;
    Cards bound = 0;
    size_t size;
    for (int seat = 0; seat < view->seats; seat++) {
        need[seat] = seat == view->seat ? 0 : view->counts[seat] - count(view->known[seat]);
        if (need[seat] < 0) return 0;
        hidden += need[seat] > 0;
    }
    places.one_hand = hidden == 1;
    for (int seat = 0; seat < view->seats; seat++) {
        Cards lacking = 0;
        for (int card = 0; card < view->size; card++)
            if (view->unseen & bit(card) && view->age[seat][card] < (places.one_hand ? need[seat] : 1)) lacking |= bit(card);
        if (!need[seat] || !lacking) continue;
        bound |= lacking;
        places.need[places.hands] = need[seat];
        places.who[places.hands++] = seat;
    }
    /* The last proof comes first, so that all cards taken so far count against the next one. */
    for (int age = 0; age <= NEVER; age++)
        for (int card = 0; card < view->size; card++)
            if (bound & bit(card) && (places.one_hand ? view->age[places.who[0]][card] : 0) == age) places.bound[places.bounds++] = card;
    size = (size_t)places.bounds + 1;
    for (int hand = 0; hand < places.hands; hand++) size *= (size_t)places.need[hand] + 1;
    places.ways = (double *)calloc(size, sizeof *places.ways);
    memcpy(need, places.need, sizeof need);
    int tries = places.ways && ways(&places, 0, need) > 0 ? TRIES : 0, agreed = 0;
    for (; tries > 0 && !agreed; tries--) {
        place_cards(&places, bound, seed, found);
        agreed = agrees(view, found->hands);
    }
    free(places.ways);
    return agreed;
}

/* --- the dialogue ----------------------------------------------------------------------------------------------------------- */

/* A parameter of the table by its name in the rules book: from the options, or else from the game. */
static inline Json *rule(Json *rules, const Json *hello, const char *name) {
    Json *game = field(field(rules, "games"), text(hello, "game")), *options = field(hello, "options");
    Json *found = field(game, name) ? field(game, name) : field(field(rules, "tute"), name);
    char by_seats[8], value[64];
    for (Json *one = options ? options->child : NULL; one; one = one->next) {
        const char *chosen = one->text ? one->text : one->kind == 't' ? "true" : NULL;
        if (chosen) snprintf(value, sizeof value, "%s=%s", one->key, chosen);
        Json *further = chosen ? field(field(field(field(rules, "implied"), text(hello, "game")), value), name) : NULL;
        if (further) found = further;
    }
    if (field(options, name)) found = field(options, name);
    snprintf(by_seats, sizeof by_seats, "%dp", number(hello, "seats", 2));
    return found && field(found, by_seats) ? field(found, by_seats) : found;
}

/* The demands of an obligation of the table, two digits per situation: on cards of the suit led, and on trumps if the hand has none of that suit. A
 * situation is a number: 4 if trumps were led, plus 2 if a trump is winning another suit, plus 1 if the partner is winning. */
static inline const char *demands_of(Json *rules, const Json *hello, const char *name) {
    char key[64];
    const char *word = rule(rules, hello, name)->text;
    const char *undertrump = rule(rules, hello, "undertrump")->kind == 't' ? "true" : "false";
    const char *beat = rule(rules, hello, "beat_after_trumped")->kind == 't' ? "true" : "false";
    snprintf(key, sizeof key, "%s %s %s %s", word, rule(rules, hello, "partner_exempt")->text, undertrump, beat);
    return text(field(rules, "demands"), field(field(rules, "demands"), key) ? key : word);
}

static inline void begin(View *view, const Json *hello) {
    static char table[sizeof RULES];
    char *at = strcpy(table, RULES);
    Json *rules = json_value(&at), *values = rule(rules, hello, "rank_points");
    const char *deck = rule(rules, hello, "deck")->text, *ranks = rule(rules, hello, "rank_order")->text;
    memset(view, 0, sizeof *view);
    snprintf(view->game, sizeof view->game, "%s", text(hello, "game"));
    view->seats = number(hello, "seats", 2);
    view->seat = number(hello, "seat", 0);
    view->seed = (unsigned)number(hello, "seed", 0);
    if (view->seats > SEATS) exit(1);
    int side = 0;
    for (Json *one = field(hello, "sides")->child; one; one = one->next, side++)
        for (Json *seat = one->child; seat; seat = seat->next) view->side[(int)seat->number] = side;
    for (const char *of = strcmp(deck, "fr52") ? "oceb" : "shdc"; *of; of++)
        for (const char *one = ranks; *one; one++) {
            if (*one == '2' && (!strcmp(deck, "es36") || (!strcmp(deck, "es39") && *of == 'c'))) continue;
            char key[2] = {*one, '\0'};
            view->name[view->size][0] = *one;
            view->name[view->size][1] = *of;
            view->strength[view->size] = (int)strlen(one) - 1;
            view->value[view->size++] = number(values, key, 0);
        }
    struct { const char *rule; char *word; size_t size; } words[] = {
        {"hand_songs", view->singers, sizeof view->singers},
        {"song_order", view->order, sizeof view->order}, {"pair_ranks", view->pair, sizeof view->pair},
        {"tute_ranks", view->tutes, sizeof view->tutes}, {"result", view->result, sizeof view->result},
        {"settlement", view->settlement, sizeof view->settlement}, {"table_songs", view->table_songs, sizeof view->table_songs},
        {"obligation_stock_open", view->stock_duty, sizeof view->stock_duty},
    };
    struct { const char *rule, *word; int *flag; } flags[] = {
        {"no_load", "true", &view->no_load}, {"auction", "play_then_join", &view->joins},
        {"call_own_card", "solo", &view->calls_own},
        {"singing_mandatory", "true", &view->must_sing}, {"sing_first_trick_only", "true", &view->sing_first},
        {"tute_first_trick_only", "true", &view->tute_first}, {"illegal_move", "accuse", &view->proves},
    };
    for (size_t one = 0; one < sizeof words / sizeof *words; one++)
        snprintf(words[one].word, words[one].size, "%s", rule(rules, hello, words[one].rule)->text);
    for (size_t one = 0; one < sizeof flags / sizeof *flags; one++) {
        const Json *found = rule(rules, hello, flags[one].rule);
        *flags[one].flag = found->text ? !strcmp(found->text, flags[one].word) : found->kind == 't';
    }
    snprintf(view->demands_open, sizeof view->demands_open, "%s", demands_of(rules, hello, "obligation_stock_open"));
    snprintf(view->demands_empty, sizeof view->demands_empty, "%s", demands_of(rules, hello, "obligation_stock_empty"));
    view->proves = !view->proves; /* if others must accuse, a seat may play an illegal card */
    view->most_songs = rule(rules, hello, "songs_per_trick")->kind == '0' ? (int)rule(rules, hello, "songs_per_trick")->number : NEVER;
    if (strcmp(rule(rules, hello, "tute")->text, "wins")) view->tutes[0] = '\0';
    view->by_auction = !strncmp(rule(rules, hello, "sides")->text, "soloist", 7);
    view->bonus = (int)rule(rules, hello, "last_trick_bonus")->number;
    const Json *target = rule(rules, hello, "target"), *late = rule(rules, hello, "passed_may_join");
    view->target = target ? (int)target->number : 0;
    view->pass_ends = late && late->kind == 'f';
    view->song_trump = number(rule(rules, hello, "song_values"), "trump", 0);
    view->song_other = number(rule(rules, hello, "song_values"), "other", 0);
    view->shown = view->soloist = view->partner = view->best = -1;
}

/* Talk to the referee until it closes the connection; `choose` returns one of view->legal. */
static inline int run(const char *name, const char *(*choose)(View *)) {
    static char line[LINE + 2];
    static View view;
    while (fgets(line, sizeof line, stdin)) {
        char *at = line;
        nodes_used = 0;
        Json *message = json_value(&at);
        const char *kind = text(message, "type");
        if (!strcmp(kind, "hello")) {
            begin(&view, message);
            printf("{\"type\":\"ready\",\"name\":\"%s\"}\n", name);
        } else if (!strcmp(kind, "act")) {
            for (Json *one = field(message, "events")->child; one; one = one->next) see(&view, one);
            view.choices = 0;
            for (Json *one = field(message, "legal")->child; one && view.choices < 256; one = one->next) view.legal[view.choices++] = one->text;
            int leads = 0;
            for (int one = 0; one < view.choices; one++) leads |= plays(&view, view.legal[one]) >= 0;
            if (leads) before_lead(&view);
            printf("{\"id\":%d,\"do\":\"%s\"}\n", number(message, "id", 0), choose(&view));
        }
        fflush(stdout); /* a pipe is not flushed line by line */
    }
    return 0;
}
