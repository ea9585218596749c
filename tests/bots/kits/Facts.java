import java.util.ArrayList;
import java.util.List;

/**
 * Answers with the first legal action, and writes to standard error what the library of the kit in Java knows, a JSON object a request. Its argument is
 * the number of deals. It is built beside a copy of the library.
 */
final class Facts implements Tute.Chooser {
    private final int deals;
    private final StringBuilder line = new StringBuilder();

    private Facts(int deals) {
        this.deals = deals;
    }

    public static void main(String[] words) {
        Tute.run("view", new Facts(words.length > 0 ? Integer.parseInt(words[0]) : 4));
    }

    private void put(String name, String json) {
        line.append(line.length() == 0 ? "{" : ",").append(Json.quote(name)).append(':').append(json);
    }

    private static String array(List<String> items) {
        return "[" + String.join(",", items) + "]";
    }

    private static String letter(char suit) {
        return Json.quote(suit == 0 ? "" : String.valueOf(suit));
    }

    private static List<String> quoted(View view, int... cards) {
        List<String> texts = new ArrayList<>();
        for (int card : cards) {
            if (card >= 0) {
                texts.add(Json.quote(view.name[card]));
            }
        }
        return texts;
    }

    private static String sets(View view, long... sets) {
        List<String> lines = new ArrayList<>();
        for (long cards : sets) {
            lines.add(Json.quote(String.join(" ", quoted(view, Tute.list(cards))).replace("\"", "")));
        }
        return array(lines);
    }

    @Override
    public String choose(View view) {
        long[] lacks = new long[view.seats];
        List<String> notAll = new ArrayList<>();
        List<String> numbers = new ArrayList<>(List.of("" + view.stock, "" + view.best));
        for (int seat = 0; seat < view.seats; seat++) {
            for (int card : Tute.list(view.unseen)) {
                lacks[seat] |= view.lacks(seat, card) ? Tute.bit(card) : 0;
            }
            long[] proved = {};
            for (long cards : view.notAll[seat]) {
                if (cards != 0) {
                    proved = java.util.Arrays.copyOf(proved, proved.length + 1);
                    proved[proved.length - 1] = cards;
                }
            }
            notAll.add(sets(view, proved));
            numbers.add("" + view.counts[seat]);
            numbers.add("" + view.points(view.side[seat]));
        }
        int[] plays = {};
        for (String action : view.legal) {
            plays = Tute.with(plays, view.plays(action));
        }
        line.setLength(0);
        put("led", letter(view.led));
        put("trump", letter(view.trump));
        put("table", array(quoted(view, view.table)));
        put("played", array(quoted(view, view.played)));
        put("shown", array(quoted(view, view.shown)));
        put("own", sets(view, view.hand, view.unseen));
        put("known", sets(view, view.known));
        put("lacks", sets(view, lacks));
        put("not_all", array(notAll));
        put("plays", array(quoted(view, plays)));
        put("numbers", array(numbers));
        for (int number = 0; number < deals; number++) {
            Deal deal = view.deal();
            if (deal == null) {
                put("none", "1");
            } else {
                put("deal" + number, sets(view, deal.hands));
                put("rest" + number, array(quoted(view, deal.rest)));
            }
        }
        Tute.log(line + "}");
        return view.legal[0];
    }
}
