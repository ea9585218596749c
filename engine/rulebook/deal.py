"""A deal step by step, derived from the `Rules` record alone, so that a page cannot differ from what the engine plays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.game import declared, load
from engine.rulebook.speaker import Speaker, capital
from engine.rulebook.words import RANKS, SUITS
from engine.rules.options import word

Said = str | None  # The text of a step at one table; None if the game has no such step.


@dataclass(frozen=True)
class StageText:
    """One stage of a deal: its name and what happens, numbers included."""

    name: str
    text: str


def deal_steps(key: str, lang: str) -> list[StageText]:
    """Return the steps of a deal of a game. A step that depends on the number of players names them."""
    tables = [Speaker(load(key, players=n).rules, n, lang) for n in sorted(declared(key).players)]
    steps = []
    for names, describe in STEPS:
        texts = {table.players: text for table in tables if (text := describe(table))}
        if texts:
            steps.append(StageText(names[lang == "en"], _joined(texts, len(tables))))
    return steps


def _joined(texts: dict[int, str], tables: int) -> str:
    players_by_sentence: dict[str, list[int]] = {}
    for players, text in texts.items():
        for sentence in re.split(r"(?<=[.]) ", text):
            players_by_sentence.setdefault(sentence, []).append(players)
    return " ".join(
        sentence if len(counts) == tables else f"({', '.join(map(str, counts))}) {sentence}"
        for sentence, counts in players_by_sentence.items()
    )


def _seating(t: Speaker) -> Said:
    rest = "" if t.rules.dealer_plays else t.say(" Quien da descansa.", " The dealer sits out.")
    return f"{t.cap('sides')}.{rest}"


def _cards(t: Speaker) -> Said:
    rules = t.rules
    order = t.ranks(rules.rank_order.replace("2", "") if rules.deck == "es36" else rules.rank_order)
    text = t.say(f"{t.word('deck')}. De más a menos: {order}.", f"{t.word('deck')}. High to low: {order}.")
    if rules.rank_points:
        worth = ", ".join(f"{RANKS[t.lang][rank]} {points}" for rank, points in rules.rank_points.items())
        text += t.say(f" Valen: {worth}; las demás, nada.", f" Points: {worth}; all others nothing.")
    return text


def _dealing(t: Speaker) -> Said:
    rules = t.rules
    if rules.hand_size == "deal_no":
        return t.say(
            "Una carta a cada uno en la primera mano, dos en la segunda, y así mientras alcance la baraja.",
            "One card each in the first deal, two in the second, and so on as far as the pack goes.",
        )
    text = t.say(f"{rules.hand_size} cartas a cada uno", f"{rules.hand_size} cards each")
    if rules.stock:
        text += (
            t.say(
                f"; {rules.stock} quedan por robar, con la muestra",
                f"; {rules.stock} are left to draw, including the shown card",
            )
            if rules.shown_card_drawn
            else t.say(f"; {rules.stock} quedan por robar", f"; {rules.stock} are left to draw")
        )
    if rules.ante and rules.settlement == "chips" and rules.auction == "play_then_join":
        text += t.say(
            f". Cada uno pone {rules.ante} fichas en el plato", f". Each puts {rules.ante} chips into the pot"
        )
    return text + "."


def _trump(t: Speaker) -> Said:
    rules = t.rules
    text = t.cap("trump_source")
    if rules.trump_source in ("turned_stock", "centre_card") and rules.shown_card_drawn is not None:
        text += "; " + t.word("shown_card_drawn")
    text += "."
    if rules.hand_size == "deal_no":
        text += t.say(" Si no sobra ninguna, no hay triunfo.", " If no card is left there is no trump.")
    if rules.trump_dynamics != "static":
        text += f" {t.cap('trump_dynamics')}"
        cycle = rules.trump_cycle or {}
        text += ": " + " → ".join(SUITS[t.lang][suit] for suit in [*cycle, next(iter(cycle))]) if cycle else ""
        text += "."
    if rules.first_deal != "none":
        text += t.say(" La primera mano se juega ", " The first deal is played ") + t.word("first_deal") + "."
        if rules.trump_source == "centre_card":
            text += t.say(
                " En ella, quien tiene el dos de oros lo cambia por la carta del centro, que está boca abajo.",
                " In that deal the holder of the two of coins must swap it for the card in the centre, which lies face down.",
            )
    return text


def _exchange(t: Speaker) -> Said:
    rules = t.rules
    if rules.exchange == "none":
        return None
    parts = []
    for own, takes in (("7", rules.exchange_seven), ("2", rules.exchange_two)):
        if takes:
            parts.append(
                t.say(
                    f"el {own} de triunfo toma una muestra que sea {t.ranks(takes)}",
                    f"the {own} of trump takes a shown {t.ranks(takes)}",
                )
            )
    when = t.word("exchange")
    if rules.exchange == "immediate":
        when = t.word("exchange_trigger")
        if rules.exchange_trigger != "own_turn":
            when += ", " + t.word("exchange_window")
        if rules.exchange_min_stock > 1:
            least = rules.exchange_min_stock
            when += t.say(f", si quedan al menos {least} por robar", f", while at least {least} are left to draw")
    return f"{capital(when)}: {'; '.join(parts)}."


def _auction(t: Speaker) -> Said:
    rules = t.rules
    if rules.auction == "none":
        return None
    text = t.cap("auction")
    if rules.auction == "points":
        text += t.say(
            f": de {rules.min_bid} a {rules.max_bid}, de {rules.bid_step} en {rules.bid_step}; {t.word('auction_rounds')}",
            f": {rules.min_bid} to {rules.max_bid}, in steps of {rules.bid_step}; {t.word('auction_rounds')}",
        )
    if rules.auction == "play_or_pass":
        text += t.say(
            " una vez; el primer «juego» es el solista, nombra el triunfo y llama una carta que no tiene",
            " once; the first “play” is the soloist, names trump and calls a card not held",
        )
    if rules.auction == "play_then_join":
        text += t.say(
            f". El solista promete {rules.tricks_soloist} bazas, quien entra {rules.tricks_joiner}; si nadie entra, el plato es del solista",
            f". The soloist promises {rules.tricks_soloist} tricks, a joiner {rules.tricks_joiner}; if nobody joins, the pot goes to the soloist",
        )
    if rules.hook:
        text += t.say(
            "; quien da no puede hacer que la suma cuadre", "; the dealer may not make the bids add up exactly"
        )
    text += f". {t.say('Si todos pasan', 'If all pass')}: {t.word('all_pass')}." if rules.all_pass else "."
    if rules.discard_draw_max:
        text += t.say(
            f" Después cada uno en juego cambia hasta {rules.discard_draw_max} cartas.",
            f" Then each player still in exchanges up to {rules.discard_draw_max} cards.",
        )
    return text


def _leading(t: Speaker) -> Said:
    return t.say(
        f"Sale primero: {t.word('first_leader')}; después, quien ganó la baza. Mano es quien se "
        f"sienta a la derecha de quien da; se juega hacia la derecha.",
        f"First leader: {t.word('first_leader')}; then the winner of each trick. Mano sits on the dealer's right; play goes to the right.",
    )


def _following(t: Speaker) -> Said:
    rules = t.rules
    closed = t.word("obligation_stock_empty")
    if rules.draw != "none" and rules.obligation_stock_open != rules.obligation_stock_empty:
        opened = t.word("obligation_stock_open")
        text = t.say(
            f"Mientras hay cartas por robar, {opened}. Después, {closed}.",
            f"While cards are left to draw: {opened}. Afterwards: {closed}.",
        )
    else:
        text = f"{capital(closed)}."
    if rules.partner_exempt != "none" and rules.sides == "pairs":
        text += (
            t.say(" Si va ganando el compañero, ", " While the partner is winning, ") + t.word("partner_exempt") + "."
        )
    if rules.no_load:
        text += t.say(
            " Quien no puede ganar la baza juega, de las permitidas, una de las que menos valen: no vale cargar.",
            " A player who cannot win the trick must play the legal card worth the fewest points: no loading.",
        )
    if rules.on_trump is None:
        text += t.say(
            " Gana la baza el triunfo más alto o, sin triunfos, la carta más alta del palo de salida.",
            " The highest trump wins the trick or, without trumps, the highest card of the suit led.",
        )
    return text


def _drawing(t: Speaker) -> Said:
    return f"{t.cap('draw')}." if t.rules.draw != "none" else None


def _singing(t: Speaker) -> Said:
    rules = t.rules
    if rules.hand_songs == "none":
        return None
    trump, other = rules.song_values["trump"], rules.song_values["other"]
    pair, who = t.word("pair_ranks"), t.word("hand_songs")
    values = (
        t.say(f"{pair} de un palo valen {trump}", f"{pair} of one suit are worth {trump}")
        if trump == other
        else t.say(
            f"{pair} de triunfo valen {trump}; de otro palo, {other}",
            f"{pair} of trumps are worth {trump}, of another suit {other}",
        )
    )
    text = t.say(f"Canta {who}, antes de salir", f"Sung by {who}, before the next lead")
    count = capital(t.word("songs_per_trick"))
    if count == "1":
        each = t.say(" cada uno", " each") if rules.hand_songs == "winning_side" else ""
        count = t.say("Un cante", "One song") + each
    text += f": {values}. {count} {t.say('por baza,', 'a trick;')} {t.word('song_order')}."
    if rules.song_min_stock:
        least = rules.song_min_stock
        text += t.say(
            f" Solo mientras queden al menos {least} por robar.", f" Only while at least {least} are left to draw."
        )
    return text


def _table_songs(t: Speaker) -> Said:
    rules = t.rules
    if rules.table_songs == "none":
        return None
    text = t.say(f"{t.cap('pair_ranks')} que caen juntos: ", f"{t.cap('pair_ranks')} of a suit in one trick: ")
    text += t.word("table_songs")
    if rules.table_songs == "forced":
        trump, other = rules.song_values["trump"], rules.song_values["other"]
        text += t.say(f" ({trump} los de triunfo, {other} los otros)", f" ({trump} in trumps, {other} otherwise)")
    if not rules.hand_song_after_table_song:
        text += t.say(". Tras ellos no se canta de la mano", ". After one, no song from the hand")
    return text + "."


def _tute(t: Speaker) -> Said:
    rules = t.rules
    if rules.tute == "none":
        return None
    first = t.say(", tras la primera baza del lado", ", after the first trick of the side")
    return t.say("Cuatro ", "Four ") + (
        f"{t.word('tute_ranks')}{first if rules.tute_first_trick_only else ''}: {t.word('tute')}."
    )


def _capote(t: Speaker) -> Said:
    rules = t.rules
    if rules.capote == "none":
        return None
    text = t.cap("capote")
    if rules.capote_spoiled_by_song:
        text += t.say("; si había cantado", "; a player who has sung")
        if rules.capote_spoiled_by_table_song:
            text += t.say(", aunque fuera en la mesa", ", even if only by a pair on the table,")
        text += t.say(", pierde solo él", " loses alone instead")
    return text + "."


def _counting(t: Speaker) -> Said:
    rules = t.rules
    text = t.cap("result")
    if rules.target:
        text = t.say(f"{rules.target} puntos ganan el juego", f"{rules.target} points win the game")
        text += t.say("; pasan de una mano a otra", "; they carry over from deal to deal")
        text += t.say(". Si al contar llegan varios: ", ". If several reach it at the count: ") + t.word("both_reach")
    if rules.rank_points:
        text += t.say(". Se cuentan cartas", ". Points come from cards")
        if rules.hand_songs != "none" or rules.table_songs != "none":
            text += t.say(" y cantes", " and songs")
        if rules.last_trick_bonus:
            bonus = rules.last_trick_bonus
            text += t.say(f", y {bonus} por la última baza", f", and {bonus} from the last trick")
            text += t.say(", que se pueden rehusar", ", which may be declined") if rules.last_trick_optional else ""
    if rules.result.__name__ not in ("trick_commitments", "exact_prediction", "middle_of_three_loses") and not word(
        rules.result
    ).startswith("soloist"):
        text += t.say(". Empate: ", ". Tie: ") + t.word("tie")
    if rules.prediction_score:
        text += ". " + t.cap("prediction_score")
    return text + "."


def _claims(t: Speaker) -> Said:
    rules = t.rules
    if rules.claim_mode == "none":
        return None
    text = t.cap("claim_mode")
    if rules.claim_mode == "claim":
        text += "; " + t.word("claim_window")
    if rules.claim_from_deal > 1:
        text += t.say(f"; desde la mano {rules.claim_from_deal}", f"; from deal {rules.claim_from_deal} on")
    return text + "."


def _worth(t: Speaker) -> Said:
    rules = t.rules
    if rules.settlement != "chips":
        return f"{t.cap('settlement')}." if rules.settlement != "points" else None
    pays = PAYMENTS.get(word(rules.payments))
    return pays(t) if pays else None


def _match(t: Speaker) -> Said:
    rules = t.rules
    games, deals, marks = rules.match_games, rules.match_deals, rules.max_losses
    lead = t.say(" con dos de ventaja", " with a lead of two") if rules.win_by == 2 else ""
    ends = {
        "race": (f"Gana quien llega antes a {games} juegos{lead}", f"First to {games} games{lead}"),
        "series": (f"Se juegan {games} manos; gana quien gana más", f"{games} games are played; most games win"),
        "cotos": (
            f"{rules.games_per_coto} juegos ganan un coto, {rules.cotos_to_win} cotos la partida",
            f"{rules.games_per_coto} games win a coto, {rules.cotos_to_win} cotos the match",
        ),
        "deals": (f"{deals} manos; deciden las fichas", f"{deals} deals; the chips decide"),
        "losses": (f"Pierde quien llega a {marks} porotos", f"A player with {marks} loss marks loses the match"),
        "elimination": (
            f"Con {marks} porotos se sale; cuando quedan menos de tres, ganan",
            f"A player with {marks} loss marks leaves; when fewer than three are left, they win",
        ),
    }.get(rules.match_end)  # fmt: skip
    text = t.say(*ends) if ends else t.cap("match_end")
    if rules.match_end == "race" and games == 1:
        text = t.say("Un juego decide la partida", "One game decides the match")
    return text + t.say(". Da después: ", ". Next dealer: ") + t.word("next_dealer") + "."


def _pay_winner(t: Speaker) -> Said:
    r = t.rules
    return t.say(
        f"Cada uno paga al ganador {r.win_payment} fichas ({r.win_101_payment} si llegó a 101), "
        f"{r.tute_payment} por un tute, y cada cante a quien lo cantó.",
        f"Each player pays the winner {r.win_payment} chips ({r.win_101_payment} if the winner has 101), "
        f"{r.tute_payment} for a tute, and every song to its singer.",
    )


def _pay_per_five(t: Speaker) -> Said:
    r = t.rules
    double = t.say(f"; desde {r.double_from}, el doble", f"; double from {r.double_from}") if r.double_from else ""
    return t.say(
        f"{r.unit} fichas por cada cinco puntos apostados{double}: si cumple, cada rival paga al solista; si no, él a cada uno.",
        f"{r.unit} chips for each five points bid{double}: if made, each opponent pays the soloist; if not, the soloist pays each.",
    )


def _pay_each(t: Speaker) -> Said:
    return t.say(
        f"Cada perdedor paga {t.rules.stake} ficha a cada ganador.",
        f"Each loser pays each winner {t.rules.stake} chip.",
    )


def _pay_pot(t: Speaker) -> Said:
    return t.say(
        "Cada baza cobra un cuarto del plato; quien no cumple lo repone entero para la mano siguiente.",
        "Each trick takes a quarter of the pot; a player who fails pays the whole of it into the next one.",
    )


PAYMENTS: dict[str, Callable[[Speaker], Said]] = {
    "winner_and_songs": _pay_winner,
    "per_five": _pay_per_five,
    "each_loser_to_each_winner": _pay_each,
    "pot_per_trick": _pay_pot,
}
STEPS: tuple[tuple[tuple[str, str], Callable[[Speaker], Said]], ...] = (
    (("Jugadores", "Players"), _seating),
    (("Cartas", "Cards"), _cards),
    (("Reparto", "Deal"), _dealing),
    (("Triunfo", "Trump"), _trump),
    (("Cambio de la muestra", "Exchange of the shown card"), _exchange),
    (("Antes de salir", "Before the first lead"), _auction),
    (("Salida", "Leading"), _leading),
    (("Al jugar", "Following"), _following),
    (("Robo", "Drawing"), _drawing),
    (("Cantes", "Songs"), _singing),
    (("Cantes de mesa", "Pairs on the table"), _table_songs),
    (("Tute", "Tute"), _tute),
    (("Capote", "Capote"), _capote),
    (("Cuenta", "Counting"), _counting),
    (("Reclamar", "Claiming"), _claims),
    (("Qué se gana", "What it is worth"), _worth),
    (("Partida", "Match"), _match),
)
