import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The Tute League for bots in Java: the protocol, and the view of a seat. One file; it needs only the standard library.
 *
 * <pre>{@code
 * final class Bot implements Tute.Chooser {
 *     public String choose(View view) { return view.legal[0]; }
 *     public static void main(String[] words) { Tute.run("my bot", new Bot()); }
 * }
 * }</pre>
 *
 * <p>A card is its index in the pack of the game, suit by suit and strongest first: view.name[card] is its text, view.cardOf("1o") the inverse; -1 is
 * no card. A set of cards is a long with one bit per card. The other kits use the same names and deal the same cards for a seed.
 *
 * <p>Proofs by plays: a seat that breaks a duty holds no card that it would have had to play instead. The duties are to follow suit, to beat, to trump
 * and not to load a lost trick (no_load). After a hidden draw a seat may hold as many of those cards as it has drawn since. A seat that had to
 * sing and did not held no pair; a soloist calls a card of another seat; a seat that sings a hidden suit holds some pair. Calls in an auction prove
 * nothing.
 */
final class Tute {
    private Tute() {}

    /** A bot: it returns one of view.legal. A class of its own starts faster than a lambda. */
    interface Chooser {
        String choose(View view);
    }

    static long bit(int card) {
        return card < 0 ? 0 : 1L << card;
    }

    /** Return the number of cards in a set. */
    static int count(long cards) {
        return Long.bitCount(cards);
    }

    /** Return the cards of a set, in the order of the pack. */
    static int[] list(long cards) {
        int[] ordered = new int[count(cards)];
        for (int place = 0; cards != 0; cards &= cards - 1) {
            ordered[place++] = Long.numberOfTrailingZeros(cards);
        }
        return ordered;
    }

    /** Return a longer copy of a list, with a number at its end. */
    static int[] with(int[] list, int number) {
        int[] longer = Arrays.copyOf(list, list.length + 1);
        longer[list.length] = number;
        return longer;
    }

    /** Write to the author's log. */
    static void log(String text) {
        System.err.println(text);
    }

    /** Talk to the referee until it closes the connection. */
    static void run(String name, Chooser bot) {
        View view = null;
        try {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, Object> message = Json.read(line);
                String answer;
                if ("hello".equals(message.get("type"))) {
                    view = new View(message);
                    answer = "{\"type\":\"ready\",\"name\":" + Json.quote(name) + "}\n";
                } else if ("act".equals(message.get("type"))) {
                    view.read(message);
                    answer = "{\"id\":" + message.get("id") + ",\"do\":" + Json.quote(bot.choose(view)) + "}\n";
                } else {
                    continue;
                }
                System.out.write(answer.getBytes(StandardCharsets.UTF_8));
                System.out.flush();
            }
        } catch (IOException gone) {
            log("the referee is gone: " + gone.getMessage());
        }
    }

    // --- the rules of the games

    // >>> written by `make texts` from engine/games; do not edit
    private static final String[] RULES = {
        "{\"demands\":{\"free\":\"00000000000000000\",\"trump_follow\":\"00000000101010100\",\"follow\":\"10101010101010100\",\"follow_or_trump\":\"11111111101010100\",\"strict none false false\":\"21211313202010101\",\"strict none false true\":\"21212323202010101\",\"strict none true false\":\"21211212202010101\",\"strict none true true\":\"21212222202010101\",\"strict trump_only false false\":\"21201310202010101\",\"strict trump_only false true\":\"21202320202010101\",\"strict trump_only true false\":\"21201210202010101\",\"strict trump_only true true\":\"21202220202010101\",\"strict all false false\":\"21101310201010101\",\"strict all false true\":\"21102310201010101\",\"strict all true false\":\"21101210201010101\",\"strict all true true\":\"21102210201010101\"},\"tute\":{\"sides\":\"single\",\"deck\":\"es40\",\"rank_order\":\"13RCS76542\",\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"C\":3,\"S\":2},\"auction\":\"none\",\"passed_may_join\":null,\"call_own_card\":\"forbidden\",\"obligation_stock_open\":\"free\",\"obligation_stock_empty\":\"strict\",\"partner_exempt\":\"none\",\"undertrump\":false,\"beat_after_trumped\":false,\"no_load\":false,\"hand_songs\":\"trick_winner\",\"pair_ranks\":\"RC\",\"songs_per_trick\":1,\"song_order\":\"any\",\"song_values\":{\"trump\":40,\"other\":20},\"table_songs\":\"none\",\"sing_first_trick_only\":false,\"singing_mandatory\":false,\"tute\":\"wins\",\"tute_ranks\":\"RC\",\"tute_first_trick_only\":false,\"last_trick_bonus\":10,\"result\":\"most_points_wins\",\"target\":null,\"settlement\":\"games\",\"illegal_move\":\"reject\"},\"games\":{",
        "\"a_dos\":{\"result\":\"fewest_points_loses\",\"settlement\":\"loss_marks\"},",
        "\"americano\":{\"obligation_stock_open\":\"trump_follow\",\"tute\":\"none\",\"result\":\"to_target\",\"target\":121},",
        "\"arrastrado\":{\"song_order\":\"forty_first\",\"settlement\":\"chips\"},",
        "\"bato\":{\"rank_points\":{},\"auction\":\"play_then_join\",\"passed_may_join\":true,\"hand_songs\":\"none\",\"tute\":\"none\",\"last_trick_bonus\":0,\"result\":\"trick_commitments\",\"settlement\":\"chips\"},",
        "\"brisca\":{\"sides\":{\"2p\":\"single\",\"3p\":\"single\",\"4p\":\"pairs\"},\"deck\":{\"2p\":\"es40\",\"3p\":\"es36\",\"4p\":\"es40\"},\"obligation_stock_empty\":\"free\",\"hand_songs\":\"none\",\"tute\":\"none\",\"last_trick_bonus\":0},",
        "\"cabrero\":{\"result\":\"middle_loses\",\"settlement\":\"loss_marks\"},",
        "\"chancho\":{\"table_songs\":\"forced\",\"result\":\"middle_loses\",\"settlement\":\"loss_marks\"},",
        "\"codillo\":{\"sides\":\"soloist_pair_vs_rest\",\"auction\":\"play_or_pass\",\"no_load\":true,\"result\":\"soloist_side_more_points\",\"settlement\":\"chips\"},",
        "\"corriente\":{\"result\":\"to_target\",\"target\":101},",
        "\"gana_pierde_3\":{\"deck\":\"es36\",\"rank_order\":\"13RCS7654\",\"hand_songs\":\"none\",\"table_songs\":\"forced_first_40\",\"tute\":\"none\",\"result\":\"middle_of_three_loses\",\"settlement\":\"loss_marks\"},",
        "\"gana_pierde_4_5\":{\"song_order\":\"forty_first\",\"table_songs\":\"forced\",\"tute\":\"none\",\"result\":\"most_points_loses_unless_101\",\"settlement\":\"loss_marks\"},",
        "\"guinote\":{\"sides\":{\"2p\":\"single\",\"3p\":\"single\",\"4p\":\"pairs\"},\"rank_order\":\"13RSC76542\",\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"partner_exempt\":\"all\",\"hand_songs\":\"winning_side\",\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\",\"result\":\"to_target\",\"target\":101},",
        "\"habanero\":{\"result\":\"to_target\",\"target\":101},",
        "\"havanian\":{\"obligation_stock_open\":\"trump_follow\",\"tute\":\"none\",\"result\":\"to_target\",\"target\":101},",
        "\"individual\":{\"obligation_stock_open\":\"strict\",\"song_order\":\"forty_first\"},",
        "\"partnership\":{\"sides\":\"pairs\",\"song_order\":\"forty_first\"},",
        "\"podrida\":{\"rank_points\":{},\"auction\":\"trick_prediction\",\"obligation_stock_empty\":\"follow\",\"hand_songs\":\"none\",\"tute\":\"none\",\"last_trick_bonus\":0,\"result\":\"exact_prediction\",\"settlement\":\"points\"},",
        "\"remate\":{\"sides\":\"soloist_vs_rest\",\"deck\":{\"3p\":\"es36\",\"4p\":\"es40\",\"5p\":\"es40\"},\"auction\":\"points\",\"no_load\":true,\"hand_songs\":\"soloist\",\"result\":\"soloist_reaches_bid\",\"settlement\":\"chips\"},",
        "\"subastado\":{\"sides\":\"soloist_vs_rest\",\"deck\":\"es36\",\"rank_order\":\"13RCS7654\",\"auction\":\"points\",\"hand_songs\":\"soloist\",\"song_order\":\"forty_first\",\"tute\":\"none\",\"result\":\"soloist_reaches_bid\",\"settlement\":\"chips\"},",
        "\"two_player\":{\"obligation_stock_open\":\"strict\",\"songs_per_trick\":\"many\",\"song_order\":\"forty_first_in_window\"},",
        "\"variable_trump\":{\"sides\":\"pairs\",\"hand_songs\":\"winning_side\",\"song_values\":{\"trump\":20,\"other\":20},\"tute_first_trick_only\":true}",
        "},\"implied\":{\"a_dos\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"americano\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"arrastrado\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"bato\":{\"no_load=true\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"C\":3,\"S\":2}},\"match_end=losses\":{\"settlement\":\"loss_marks\"}},\"brisca\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"cabrero\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"chancho\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"codillo\":{\"match_end=losses\":{\"settlement\":\"loss_marks\"},\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"corriente\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"gana_pierde_3\":{\"rank_order=13RSC7654\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"gana_pierde_4_5\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"habanero\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"havanian\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"individual\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"partnership\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"podrida\":{\"preset=podrida52\":{\"deck\":\"fr52\",\"rank_order\":\"AKQJT98765432\"}},\"remate\":{\"match_end=elimination\":{\"settlement\":\"loss_marks\"},\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"subastado\":{\"rank_order=13RSC7654\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}},\"two_player\":{\"rank_order=13RSC76542\":{\"rank_points\":{\"1\":11,\"3\":10,\"R\":4,\"S\":3,\"C\":2},\"pair_ranks\":\"RS\",\"tute_ranks\":\"RS\"}}}}",
    };
    // <<< written by `make texts`

    private static Map<String, Object> rules;

    static Map<String, Object> rules() {
        if (rules == null) {
            rules = Json.read(String.join("", RULES));
        }
        return rules;
    }
}

/** JSON as maps, lists, strings, booleans, null, whole numbers (Long) and others (Double). */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> read(String text) {
        return (Map<String, Object>) new Json(text).value();
    }

    static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    static Object field(Object object, String name) {
        return object instanceof Map ? ((Map<?, ?>) object).get(name) : null;
    }

    static int whole(Object object, String name, int otherwise) {
        Object number = field(object, name);
        return number instanceof Number ? (int) ((Number) number).longValue() : otherwise;
    }

    static String word(Object object, String name) {
        Object text = field(object, name);
        return text instanceof String ? (String) text : "";
    }

    static char letter(Object object, String name) {
        String text = word(object, name);
        return text.isEmpty() ? 0 : text.charAt(0);
    }

    static List<?> list(Object object, String name) {
        Object items = field(object, name);
        return items instanceof List ? (List<?>) items : List.of();
    }

    private char next() {
        while (text.charAt(at) <= ' ') {
            at++;
        }
        return text.charAt(at);
    }

    private Object value() {
        switch (next()) {
            case '{':
                Map<String, Object> object = new LinkedHashMap<>();
                for (at++; next() != '}'; at += next() == ',' ? 1 : 0) {
                    String name = string();
                    next();
                    at++; // the colon
                    object.put(name, value());
                }
                at++;
                return object;
            case '[':
                List<Object> items = new ArrayList<>();
                for (at++; next() != ']'; at += next() == ',' ? 1 : 0) {
                    items.add(value());
                }
                at++;
                return items;
            case '"':
                return string();
            default:
                return atom();
        }
    }

    private String string() {
        int begin = ++at;
        StringBuilder unescaped = new StringBuilder();
        for (; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\') {
                unescaped.append(text, begin, at++);
                char escaped = text.charAt(at);
                int place = "bfnrt".indexOf(escaped);
                if (escaped == 'u') {
                    unescaped.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else {
                    unescaped.append(place < 0 ? escaped : "\b\f\n\r\t".charAt(place));
                }
                begin = at + 1;
            }
        }
        return unescaped.append(text, begin, at++).toString();
    }

    private Object atom() {
        int begin = at;
        while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(begin, at);
        switch (word) {
            case "true":
                return true;
            case "false":
                return false;
            case "null":
                return null;
            default:
                return word.matches("-?[0-9]+") ? (Object) Long.valueOf(word) : (Object) Double.valueOf(word);
        }
    }
}

/** A song whose suit is hidden, with the pair of each suit that it may be. */
final class Song {
    final int seat;
    final boolean[] may = new boolean[4];
    final long[] pair = new long[4];

    Song(int seat) {
        this.seat = seat;
    }
}

/** A way in which the hidden cards may lie. */
final class Deal {
    final long[] hands; // your own among them
    final int[] rest; // cards in no hand: the stock, face down, and cards that others put away

    Deal(long[] hands, int[] rest) {
        this.hands = hands;
        this.rest = rest;
    }
}

/** The knowledge of a seat. A suit is a letter (o coins, c cups, e swords, b batons), or 0. */
final class View {
    private static final int NEVER = 99; // no play proved that a seat lacks a card
    private static final int TRIES = 10000; // rejected deals before giving up; at the league's tables at least one deal in six agreed
    private static final char[] SUITS = {'o', 'c', 'e', 'b'};
    // The demands of a duty on a follower's cards of one suit: none; one of them; a higher one, else one of them; (3) a higher one, else any card.
    private static final char ANY_CARD = '0', ALL = '1', HIGHER_OR_ALL = '2';

    final String game;
    final int seats; // how many
    final int seat; // yours
    final int[] side; // the side of each seat
    int seed; // for your own random choices
    final int size; // cards in the pack
    final String[] name; // the text of each card
    final int[] value; // card points
    final int[] strength; // within the suit, 0 for the weakest
    long hand; // your cards
    int[] table; // the cards of the trick
    int[] by; // who played them
    int best; // index on the table of the winning card, -1 before a lead
    char led; // a suit
    char trump;
    int shown; // the card that fixed the trump
    int stock; // cards to be drawn, the shown one included
    int[] played; // cards of the deal in order
    long unseen; // cards whose place you do not know
    long[] known; // cards that a seat certainly holds; not your own
    int[] counts; // cards left in each hand
    long[] barred; // cards that a seat did not hold at its last play, by the duties; a hidden draw ends this knowledge
    long[][] notAll; // by seat, sets (of a suit, of a rank) of which it does not hold every card; 0: nothing is known
    List<Song> songs; // whose suit is hidden
    int[] tricks; // won in this deal, by seat
    int winner; // of the last trick, or -1
    int[] scored; // cards, songs and last trick in this deal, by seat
    int soloist; // from an auction, or -1
    int partner;
    boolean[] out; // true for a seat that is not in this deal
    String[] call; // the last call of each seat in an auction, or null
    int[] predicted; // tricks that a seat says it will take
    final int[] totals; // points carried into this deal, by side
    String sung; // suits
    String[] legal; // the legal answers

    // Of the rules book: points that win the match, or 0; of songs; of the last trick; who may sing; ranks of a pair; obligation_stock_open.
    final int target, songTrump, songOther, bonus;
    final String result, settlement, tableSongs, handSongs, pairRanks, stockDuty;

    private int[][] age; // for each unseen card that a seat was proved to lack, the number of hidden cards drawn since; else NEVER
    private int notice;
    private boolean open;
    private final boolean byAuction, proves, noLoad, callsOwn, mustSing, singFirst, tuteFirst, joins, passEnds;
    private final int mostSongs;
    private int[] said; // songs since the last trick, by seat
    private boolean[] twenty;
    private final String demandsOpen, demandsEmpty, order, tutes;

    View(Map<String, Object> hello) {
        game = Json.word(hello, "game");
        seats = Json.whole(hello, "seats", 2);
        seat = Json.whole(hello, "seat", 0);
        seed = Json.whole(hello, "seed", 0);
        bonus = number(hello, "last_trick_bonus", 0);
        target = number(hello, "target", 0);
        songTrump = Json.whole(rule(hello, "song_values"), "trump", 0);
        songOther = Json.whole(rule(hello, "song_values"), "other", 0);
        result = get(hello, "result");
        settlement = get(hello, "settlement");
        tableSongs = get(hello, "table_songs");
        handSongs = get(hello, "hand_songs");
        pairRanks = get(hello, "pair_ranks");
        stockDuty = get(hello, "obligation_stock_open");
        order = get(hello, "song_order");
        byAuction = get(hello, "sides").startsWith("soloist");
        joins = get(hello, "auction").equals("play_then_join");
        passEnds = get(hello, "passed_may_join").equals("false");
        proves = !get(hello, "illegal_move").equals("accuse"); // if others must accuse, a seat may play an illegal card
        noLoad = get(hello, "no_load").equals("true");
        callsOwn = get(hello, "call_own_card").equals("solo");
        mustSing = get(hello, "singing_mandatory").equals("true");
        singFirst = get(hello, "sing_first_trick_only").equals("true");
        tuteFirst = get(hello, "tute_first_trick_only").equals("true");
        mostSongs = number(hello, "songs_per_trick", NEVER);
        demandsOpen = demandsOf(hello, "obligation_stock_open");
        demandsEmpty = demandsOf(hello, "obligation_stock_empty");
        tutes = get(hello, "tute").equals("wins") ? get(hello, "tute_ranks") : "";
        side = new int[seats];
        List<?> sides = Json.list(hello, "sides");
        totals = new int[sides.size()];
        for (int number = 0; number < sides.size(); number++) {
            for (Object member : (List<?>) sides.get(number)) {
                side[((Number) member).intValue()] = number;
            }
        }
        String ranks = get(hello, "rank_order"), deck = get(hello, "deck");
        List<String> names = new ArrayList<>();
        for (char suit : (deck.equals("fr52") ? "shdc" : "oceb").toCharArray()) {
            for (char rank : ranks.toCharArray()) {
                if (rank != '2' || !(deck.equals("es36") || (deck.equals("es39") && suit == 'c'))) {
                    names.add("" + rank + suit);
                }
            }
        }
        size = names.size();
        name = names.toArray(new String[0]);
        value = new int[size];
        strength = new int[size];
        for (int card = 0; card < size; card++) {
            String rank = name[card].substring(0, 1);
            value[card] = Json.whole(rule(hello, "rank_points"), rank, 0);
            strength[card] = ranks.length() - 1 - ranks.indexOf(rank);
        }
        beginDeal(Map.of());
    }

    /** A parameter of the table by its name in the rules book: from the options, or else from the game. */
    private static Object rule(Map<String, Object> hello, String name) {
        Map<String, Object> rules = Tute.rules();
        String game = Json.word(hello, "game");
        Object value = Json.field(rules.get("tute"), name);
        value = either(Json.field(Json.field(rules.get("games"), game), name), value);
        if (hello.get("options") instanceof Map) {
            Map<?, ?> options = (Map<?, ?>) hello.get("options");
            for (Map.Entry<?, ?> option : options.entrySet()) {
                Object implied = Json.field(Json.field(rules.get("implied"), game), option.getKey() + "=" + option.getValue());
                value = either(Json.field(implied, name), value);
            }
            value = either(options.get(name), value);
        }
        return either(Json.field(value, Json.whole(hello, "seats", 2) + "p"), value);
    }

    private static Object either(Object value, Object otherwise) {
        return value == null ? otherwise : value;
    }

    private static String get(Map<String, Object> hello, String name) {
        return String.valueOf(rule(hello, name));
    }

    private static int number(Map<String, Object> hello, String name, int otherwise) {
        Object number = rule(hello, name);
        return number instanceof Number ? ((Number) number).intValue() : otherwise;
    }

    /**
     * The demands of an obligation of the table, two digits per situation: on cards of the suit led, and on trumps if the hand has none of that suit.
     * A situation is a number: 4 if trumps were led, plus 2 if a trump is winning another suit, plus 1 if the partner is winning.
     */
    private static String demandsOf(Map<String, Object> hello, String name) {
        String key = get(hello, name);
        String exemption = key + " " + get(hello, "partner_exempt");
        String full = exemption + " " + get(hello, "undertrump") + " " + get(hello, "beat_after_trumped");
        Object demands = Tute.rules().get("demands");
        return (String) either(Json.field(demands, full), Json.word(demands, key));
    }

    /** Return the card of a text such as "1o", or -1. */
    int cardOf(String text) {
        for (int card = 0; card < size; card++) {
            if (name[card].equals(text)) {
                return card;
            }
        }
        return -1;
    }

    /** Return the suit of a card. */
    char suit(int card) {
        return name[card].charAt(1);
    }

    /** Return the card that a legal text plays, or -1. */
    int plays(String action) {
        return action.startsWith("play ") ? cardOf(action.substring(5)) : -1;
    }

    /** Return true if two seats are on one side. */
    boolean together(int a, int b) {
        if (byAuction && soloist >= 0) {
            return (a == soloist || a == partner) == (b == soloist || b == partner);
        }
        return side[a] == side[b];
    }

    /** Return the points of a side in this deal. */
    int points(int number) {
        int sum = 0;
        for (int other = 0; other < seats; other++) {
            sum += side[other] == number ? scored[other] : 0;
        }
        return sum;
    }

    /** Return true if a card, played later, beats another one of this trick. */
    boolean beats(int card, int other) {
        if (suit(card) == suit(other)) {
            return card < other;
        }
        return suit(card) == trump || (suit(card) == led && suit(other) != trump);
    }

    /** Return true if a seat certainly does not hold a card. */
    boolean lacks(int other, int card) {
        long bit = Tute.bit(card);
        if (other == seat) {
            return (hand & bit) == 0;
        }
        return (known[other] & bit) == 0 && ((unseen & bit) == 0 || age[other][card] == 0);
    }

    /** Return true if a seat certainly holds no card of a suit. */
    boolean isVoid(int other, char suit) {
        for (int card : Tute.list(above(suit, -1))) {
            if (!lacks(other, card)) {
                return false;
            }
        }
        return true;
    }

    /** Update the view by a request. */
    void read(Map<String, Object> request) {
        for (Object event : Json.list(request, "events")) {
            see(event);
        }
        List<?> texts = Json.list(request, "legal");
        legal = texts.toArray(new String[0]);
        for (String action : legal) {
            if (plays(action) >= 0) {
                beforeLead();
                break;
            }
        }
    }

    /** Update the view by an event. Kinds that change nothing here are ignored. */
    void see(Object event) {
        int who = Json.whole(event, "seat", -1), card = cardOf(Json.word(event, "card"));
        int of = Json.whole(event, "of", 0), other = Math.max(who, 0);
        String kind = Json.word(event, "e");
        switch (kind) {
            case "deal":
                beginDeal(event);
                break;
            case "play":
                beforeLead();
                goes(other, card);
                counts[other]--;
                if (table.length == 0) {
                    led = suit(card);
                    open = stock > 0;
                } else if (other != seat) {
                    learn(other, card);
                }
                played = Tute.with(played, card);
                by = Tute.with(by, other);
                table = Tute.with(table, card);
                judgeTable();
                break;
            case "trick":
                scored[other] += Json.whole(event, "points", 0);
                if (Boolean.TRUE.equals(Json.field(event, "last"))) {
                    scored[other] += bonus;
                }
                tricks[other]++;
                winner = who;
                Arrays.fill(said, 0);
                table = by = new int[0];
                led = 0;
                best = -1;
                break;
            case "draw":
                counts[other]++;
                stock = Math.max(0, stock - 1);
                if (other != seat || card >= 0) {
                    comes(other, card);
                }
                break;
            case "take":
                counts[other]++;
                comes(other, card);
                shown = -1;
                break;
            case "notice":
                notice = card;
                goes(other, card);
                counts[other]--;
                break;
            case "return":
                notice = -1;
                comes(other, card);
                counts[other]++;
                break;
            case "exchange":
                int gives = cardOf(Json.word(event, "gives"));
                if (notice == gives) {
                    notice = -1;
                    counts[other]++;
                }
                goes(other, gives);
                comes(other, cardOf(Json.word(event, "takes")));
                shown = gives;
                break;
            case "discard":
                counts[other] -= Json.whole(event, "count", 0);
                for (Object text : Json.list(event, "cards")) {
                    goes(other, cardOf((String) text));
                }
                if (Json.field(event, "cards") == null) { // the seat may have put away cards that it had shown
                    unseen |= known[other];
                    known[other] = 0;
                }
                break;
            case "song":
            case "tute":
                scored[other] += Json.whole(event, "points", 0);
                sung += Json.word(event, "suit");
                if (Boolean.TRUE.equals(Json.field(event, "table"))) {
                    break;
                }
                said[other]++;
                twenty[other] |= Json.letter(event, "suit") != trump;
                if (Json.word(event, "suit").isEmpty() && kind.equals("song")) {
                    hiddenSong(other);
                }
                shows(other, Json.list(event, "cards"));
                break;
            case "look":
                shows(of, Json.list(event, "cards"));
                break;
            case "reveal":
                shows(other, List.of(Json.word(event, "card")));
                if (Json.field(event, "shown") != null) {
                    shown = cardOf(Json.word(event, "shown"));
                }
                unseen &= ~Tute.bit(shown);
                break;
            case "last_ten":
                if (!Boolean.TRUE.equals(Json.field(event, "taken"))) {
                    scored[other] -= bonus;
                }
                break;
            case "trump":
                trump = Json.letter(event, "suit");
                soloist = who >= 0 ? who : soloist;
                led = Json.word(event, "lead").isEmpty() ? led : Json.letter(event, "lead");
                judgeTable();
                break;
            case "call":
                call[other] = Json.word(event, "call");
                if (call[other].startsWith("bid") || (call[other].equals("play") && soloist < 0)) {
                    soloist = who;
                }
                if (joins && soloist >= 0) {
                    decide();
                }
                break;
            case "predict":
                predicted[other] = Json.whole(event, "tricks", 0);
                break;
            case "score":
                carry(event);
                break;
            case "called":
                if ((hand & Tute.bit(card)) != 0) {
                    partner = seat;
                } else if (!callsOwn) {
                    age[other][card] = 0;
                }
                break;
            case "partner":
                partner = who;
                break;
            case "takeover":
                long mine = other == seat ? known[of] : of == seat ? 0 : hand;
                known[other] = of == seat ? hand : 0;
                known[of] = 0;
                hand = mine;
                int count = counts[other];
                counts[other] = counts[of];
                counts[of] = count;
                soloist = who;
                out[of] = true;
                out[other] = false;
                break;
            default:
        }
    }

    private void beginDeal(Object event) {
        unseen = (1L << size) - 1;
        hand = 0;
        known = new long[seats];
        barred = new long[seats];
        notAll = new long[seats][8];
        scored = new int[seats];
        tricks = new int[seats];
        said = new int[seats];
        predicted = new int[seats];
        counts = new int[seats];
        twenty = new boolean[seats];
        out = new boolean[seats];
        call = new String[seats];
        age = new int[seats][size];
        for (int[] ages : age) {
            Arrays.fill(ages, NEVER);
        }
        songs = new ArrayList<>();
        sung = "";
        List<?> sizes = Json.list(event, "counts");
        for (int other = 0; other < sizes.size(); other++) {
            counts[other] = ((Number) sizes.get(other)).intValue();
        }
        for (Object other : Json.list(event, "out")) {
            out[((Number) other).intValue()] = true;
        }
        for (Object text : Json.list(event, "hand")) {
            comes(seat, cardOf((String) text));
        }
        if (Json.whole(event, "deal", 0) == 1) {
            Arrays.fill(totals, 0);
        }
        carry(event);
        trump = Json.letter(event, "trump");
        stock = Json.whole(event, "stock", 0);
        shown = cardOf(Json.word(event, "shown"));
        unseen &= ~Tute.bit(shown);
        int holder = Json.whole(event, "holder", -1);
        if (holder >= 0 && holder != seat) {
            known[holder] |= Tute.bit(shown);
        }
        table = by = played = new int[0];
        led = 0;
        // In a game without a stock the shown card lies on the table until the first lead.
        best = soloist = partner = notice = winner = -1;
    }

    private void carry(Object event) {
        List<?> points = Json.list(event, "totals");
        for (int number = 0; number < points.size(); number++) {
            totals[number] = ((Number) points.get(number)).intValue();
        }
    }

    /** Record, in a game where seats join a soloist, who stays out once every seat has decided. */
    private void decide() {
        for (int other = 0; other < seats; other++) {
            if (!out[other] && (call[other] == null || (call[other].equals("pass") && !passEnds))) {
                return;
            }
        }
        for (int other = 0; other < seats; other++) {
            out[other] = !"play".equals(call[other]) && !"join".equals(call[other]);
        }
    }

    /** Record that a card turned up that the seat was proved to lack: the seat has drawn it since. */
    private void uncover(int other, int card) {
        if ((unseen & Tute.bit(card)) == 0) {
            return;
        }
        unseen &= ~Tute.bit(card);
        int[] ages = age[other];
        int drawn = ages[card];
        for (int place = 0; place < size; place++) {
            if (drawn != NEVER && ages[place] != NEVER && ages[place] >= drawn && ages[place] > 0) {
                ages[place]--;
            }
        }
    }

    private void hold(int other, long cards, long without) {
        if (other == seat) {
            hand = (hand | cards) & ~without;
        } else {
            known[other] = (known[other] | cards) & ~without;
        }
    }

    /** Put a card into a hand; -1 if it is hidden. */
    private void comes(int other, int card) {
        if (card >= 0) {
            unseen &= ~Tute.bit(card);
            hold(other, Tute.bit(card), 0);
            return;
        }
        barred[other] = 0;
        for (int place = 0; place < size; place++) {
            age[other][place] += age[other][place] == NEVER ? 0 : 1;
        }
    }

    private void goes(int other, int card) {
        long bit = Tute.bit(card);
        uncover(other, card);
        hold(other, 0, bit);
        // The singer need not hold a pair any longer once a card of it is played; a pair of which another seat had a card was not sung.
        for (Song song : songs) {
            for (int place = 0; place < SUITS.length; place++) {
                if (song.seat == other) {
                    song.pair[place] &= ~bit;
                } else if ((song.pair[place] & bit) != 0) {
                    song.may[place] = false;
                }
            }
        }
    }

    private void shows(int other, List<?> cards) {
        for (Object text : cards) {
            int card = cardOf((String) text);
            uncover(other, card);
            if (other != seat) {
                known[other] |= Tute.bit(card);
            }
        }
    }

    private void judgeTable() {
        best = -1;
        for (int place = 0; place < table.length; place++) {
            if (best < 0 || beats(table[place], table[best])) {
                best = place;
            }
        }
    }

    /** The best card of a suit on the table, or -1. */
    private int bestOf(char suit) {
        int highest = -1;
        for (int card : table) {
            if (suit(card) == suit && (highest < 0 || card < highest)) {
                highest = card;
            }
        }
        return highest;
    }

    /** The demand on a seat in this trick, on its cards of the suit led (0) or on trumps (1). */
    private char demand(int other, int which) {
        int situation = led == trump ? 4 : bestOf(trump) >= 0 ? 2 : 0;
        situation += together(by[best], other) ? 1 : 0;
        return (open ? demandsOpen : demandsEmpty).charAt(2 * situation + which);
    }

    /** The class of a card under the duties of a seat: the seat must play a card of a lower class before one of a higher. */
    private int duty(int other, int card) {
        char suit = suit(card), demand = ANY_CARD;
        int place = 200, load = 0;
        if (suit == led) {
            demand = demand(other, 0);
            place = 0;
        } else if (suit == trump) {
            demand = demand(other, 1);
        }
        // if no card can win, the cards of least value come first
        if ((open ? demandsOpen : demandsEmpty).charAt(16) == '1' && noLoad && !beats(card, table[best])) {
            load = value[card];
        }
        if (demand == ALL || (demand != ANY_CARD && card < bestOf(suit))) {
            return load + place;
        }
        return load + (demand == HIGHER_OR_ALL ? place + 100 : 400);
    }

    /** Return the cards of a suit that beat one of them; all if it is -1. */
    long above(char suit, int card) {
        long cards = 0;
        for (int other = 0; other < size; other++) {
            cards |= suit(other) == suit && (card < 0 || other < card) ? Tute.bit(other) : 0;
        }
        return cards;
    }

    /** Record which cards of the suit led and of trumps a seat lacks now. */
    private void bar(int other, int card) {
        for (int place = 0; place < 2; place++) {
            char suit = place == 0 ? led : trump, demand = demand(other, place);
            int highest = bestOf(suit);
            if (suit(card) == suit) {
                if (demand >= HIGHER_OR_ALL && highest >= 0 && card > highest) {
                    barred[other] |= above(suit, highest);
                }
                return;
            }
            if (demand > HIGHER_OR_ALL) {
                barred[other] |= above(suit, highest);
            } else if (demand != ANY_CARD) {
                barred[other] |= above(suit, -1);
            }
        }
    }

    /** Record what a card proves about the hand that it comes from. */
    private void learn(int other, int card) {
        if (!proves || led == 0) {
            return;
        }
        bar(other, card);
        for (int instead : Tute.list(unseen)) {
            if (duty(other, instead) < duty(other, card)) {
                age[other][instead] = 0;
            }
        }
    }

    /** Return the cards of some ranks, in one suit or in all (0). */
    long ofRanks(String ranks, char suit) {
        long cards = 0;
        for (int card = 0; card < size; card++) {
            cards |= ranks.indexOf(name[card].charAt(0)) >= 0 && (suit == 0 || suit(card) == suit) ? Tute.bit(card) : 0;
        }
        return cards;
    }

    /** Record, once nobody can sing any more before the next lead, that a seat that had to sing and did not held no pair. */
    private void beforeLead() {
        for (int other = 0; other < seats; other++) {
            if (other != seat && table.length == 0 && winner >= 0 && mustSing) {
                unsung(other);
            }
        }
    }

    /** Games with this duty have no stock, so what was not sung cannot be drawn later. */
    private void unsung(int singer) {
        int won = 0;
        boolean late = false; // for the forty
        for (int other = 0; other < seats; other++) {
            if (together(other, singer)) {
                won += tricks[other];
                late |= twenty[other] && !order.equals("any") && (other == singer || order.equals("forty_first_side"));
            }
        }
        boolean sings = handSongs.equals("winning_side") ? together(singer, winner) : singer == winner;
        if (!sings || said[singer] >= mostSongs || (singFirst && won != 1)) {
            return;
        }
        for (int place = 0; place < SUITS.length; place++) {
            if (sung.indexOf(SUITS[place]) < 0 && !(SUITS[place] == trump && late)) {
                notAll[singer][place] = ofRanks(pairRanks, SUITS[place]);
            }
        }
        for (int place = 0; place < tutes.length() && (!tuteFirst || won == 1); place++) {
            notAll[singer][4 + place] = ofRanks(tutes.substring(place, place + 1), (char) 0);
        }
    }

    private void hiddenSong(int singer) {
        Song song = new Song(singer);
        for (int place = 0; place < SUITS.length; place++) {
            song.pair[place] = ofRanks(pairRanks, SUITS[place]);
            boolean fits = (song.pair[place] & ~(unseen | known[singer])) == 0;
            song.may[place] = fits && SUITS[place] != trump && sung.indexOf(SUITS[place]) < 0;
        }
        songs.add(song);
    }

    /** True if each song, from this one on, can have had a different suit. */
    private boolean sungFrom(long[] hands, int number, int used) {
        if (number == songs.size()) {
            return true;
        }
        Song song = songs.get(number);
        for (int place = 0; place < SUITS.length; place++) {
            boolean fits = song.may[place] && (used >> place & 1) == 0 && (song.pair[place] & ~hands[song.seat]) == 0;
            if (fits && sungFrom(hands, number + 1, used | 1 << place)) {
                return true;
            }
        }
        return false;
    }

    /** True if hands agree with the facts about more than one card. */
    private boolean agrees(long[] hands) {
        for (int other = 0; other < seats; other++) {
            if (other == seat) {
                continue;
            }
            for (long cards : notAll[other]) {
                if (cards != 0 && (cards & ~hands[other]) == 0) {
                    return false;
                }
            }
            // each card that the seat was proved to lack needs a draw of its own since the proof
            int[] ages = Tute.list(hands[other] & unseen);
            for (int place = 0; place < ages.length; place++) {
                ages[place] = age[other][ages[place]];
            }
            Arrays.sort(ages);
            for (int drawn = 0; drawn < ages.length; drawn++) {
                if (ages[drawn] <= drawn) {
                    return false;
                }
            }
        }
        return sungFrom(hands, 0, 0);
    }

    /** Return a random number, at least 0 and below 1. It advances the seed (mulberry32, as in the other kits). */
    double chance() {
        seed += 0x6D2B79F5;
        int mixed = (seed ^ seed >>> 15) * (seed | 1);
        mixed ^= mixed + (mixed ^ mixed >>> 7) * (mixed | 61);
        return ((mixed ^ mixed >>> 14) & 0xFFFFFFFFL) / 4294967296.0;
    }

    /** Shuffle cards in place. */
    void shuffle(int[] cards) {
        for (int left = cards.length; left > 1; left--) {
            int place = (int) (chance() * left), card = cards[left - 1];
            cards[left - 1] = cards[place];
            cards[place] = card;
        }
    }

    /** The cards that some hand cannot hold, to be placed one after the other. Hands that may hold every card count as part of the rest. */
    private final class Placing {
        final int hidden = Tute.count(unseen);
        final boolean oneHand; // true if one hand is hidden; then cards drawn since a proof are counted, too
        final Map<Long, Double> counted = new HashMap<>();
        int[] who = {}, need = {}, room, bound;

        Placing(int[] needs) {
            int hands = 0;
            for (int cards : needs) {
                hands += cards > 0 ? 1 : 0;
            }
            oneHand = hands == 1;
            long cards = 0;
            for (int other = 0; other < seats; other++) {
                long lacking = 0;
                for (int card : Tute.list(unseen)) {
                    int drawn = age[other][card];
                    lacking |= drawn == 0 || (oneHand && drawn < needs[other]) ? Tute.bit(card) : 0;
                }
                if (needs[other] > 0 && lacking != 0) {
                    cards |= lacking;
                    who = Tute.with(who, other);
                    need = Tute.with(need, needs[other]);
                }
            }
            bound = Tute.list(cards);
            room = need.clone();
            // With one hand the last proof comes first, so that all cards taken so far count against the next one.
            for (int end = 1; oneHand && who.length > 0 && end < bound.length; end++) {
                int card = bound[end], place = end;
                for (; place > 0 && age[who[0]][bound[place - 1]] > age[who[0]][card]; place--) {
                    bound[place] = bound[place - 1];
                }
                bound[place] = card;
            }
        }

        /** True if a card may go to a hand. */
        boolean fits(int place, int number) {
            int drawn = age[who[number]][bound[place]];
            return room[number] > 0 && (oneHand ? need[number] - room[number] < drawn : drawn > 0);
        }

        /** The number of ways to place the cards from `place` on into the room of the hands; free cards are counted at the end. */
        double ways(int place) {
            int left = hidden - place, rest = left;
            long key = place;
            for (int number = 0; number < who.length; number++) {
                rest -= room[number];
                key = key * (need[number] + 1) + room[number];
            }
            if (rest < 0) {
                return 0;
            }
            Double before = counted.get(key);
            if (before != null) {
                return before;
            }
            double ways = place == bound.length ? 1 : rest > 0 ? ways(place + 1) : 0;
            for (int number = 0; number < who.length; number++) {
                if (place == bound.length) {
                    for (int card = 1; card <= room[number]; card++) {
                        ways = ways * left-- / card;
                    }
                } else if (fits(place, number)) {
                    ways += within(place, number);
                }
            }
            counted.put(key, ways);
            return ways;
        }

        double within(int place, int number) {
            room[number]--;
            double ways = ways(place + 1);
            room[number]++;
            return ways;
        }
    }

    /**
     * Return a deal of the hidden cards that agrees with all facts; null if none does, or if none was found in many draws. Every placement has the same
     * chance, except for the rounding of floats, because the placements left after each choice are counted. Hand sizes, known cards and lacking cards
     * never cause a rejection; with one hidden hand, cards drawn since a proof do not either. A deal that contradicts a fact about several cards is
     * rejected.
     */
    Deal deal() {
        int[] needs = new int[seats];
        for (int other = 0; other < seats; other++) {
            needs[other] = other == seat ? 0 : counts[other] - Tute.count(known[other]);
            if (needs[other] < 0) {
                return null;
            }
        }
        Placing places = new Placing(needs);
        if (places.ways(0) == 0) {
            return null;
        }
        for (int attempt = 0; attempt < TRIES; attempt++) {
            Deal deal = place(places, needs.clone());
            if (agrees(deal.hands)) {
                return deal;
            }
        }
        return null;
    }

    /** Put the unseen cards into hands: the bound ones by their counts, the others at random. */
    private Deal place(Placing places, int[] needs) {
        long[] hands = known.clone();
        hands[seat] = hand;
        places.room = places.need.clone();
        long bound = 0;
        int[] pool = {};
        for (int place = 0; place < places.bound.length; place++) {
            double mark = chance() * places.ways(place);
            int card = places.bound[place], goesTo = -1;
            bound |= Tute.bit(card);
            for (int number = 0; number < places.who.length && mark >= 0; number++) {
                double ways = places.fits(place, number) ? places.within(place, number) : 0;
                if (ways > 0) {
                    mark -= ways;
                    goesTo = mark < 0 ? number : -1;
                }
            }
            if (goesTo < 0) {
                pool = Tute.with(pool, card);
            } else {
                places.room[goesTo]--;
                hands[places.who[goesTo]] |= Tute.bit(card);
            }
        }
        int[] loose = Tute.list(unseen & ~bound);
        shuffle(loose);
        int left = loose.length;
        for (int number = 0; number < places.who.length; number++) {
            needs[places.who[number]] = 0;
            for (int room = places.room[number]; room > 0; room--) {
                hands[places.who[number]] |= Tute.bit(loose[--left]);
            }
        }
        while (left > 0) {
            pool = Tute.with(pool, loose[--left]);
        }
        shuffle(pool);
        left = pool.length;
        for (int other = 0; other < seats; other++) {
            for (; needs[other] > 0 && left > 0; needs[other]--) {
                hands[other] |= Tute.bit(pool[--left]);
            }
        }
        return new Deal(hands, Arrays.copyOf(pool, left));
    }
}
