"""The texts of rules pages: one line per parameter, rule and heading, Spanish and English."""

from __future__ import annotations

SUITS = {
    "es": {"o": "oros", "c": "copas", "e": "espadas", "b": "bastos"},
    "en": {"o": "coins", "c": "cups", "e": "swords", "b": "batons"},
}
HEADINGS = {
    "es": {
        "page_of_game": "`tute rules CLAVE` imprime la página de un juego; en una liga está en el juego, en *Reglas*.",
        "games": "Los juegos", "game_columns": "| juego | jugadores | en una frase | fuente |",
        "language": "Español", "rules": "Reglas", "players": "Jugadores", "source": "Fuente", "deal": "Cómo va una mano",
        "trick": "Una baza de ejemplo", "differences": "Diferencias con el tute ordinario", "options": "Opciones", "no_trump": "ninguno",
        "by_table": "Lo que puede elegir quien organiza. «(4) x» vale para cuatro jugadores; – es nada.",
        "difference_columns": "| | aquí | tute ordinario |", "none": "Ninguna.",
        "option_columns": "| opción | qué cambia | valores | por defecto |",
        "default": "Por defecto", "trick_columns": "| jugador | carta | regla |",
        "number": "Baza {}", "trump": "triunfo", "stock": "cartas por robar", "trump_after": "Triunfo después",
        "won": "Gana la baza el {}: {} puntos.", "song": "El {} se apunta {} por una pareja en la mesa.",
        "choice": "El {}, con {} en la mesa, tenía: {}.", "may": "Podía jugar: {} (regla {}).",
        "picture": "Abajo, la mano del {}; enmarcado, lo que podía jugar.",
        "ordinary": "El tute ordinario",
        "ordinary_is": "Lo que comparte la familia (reglamento, secciones 1 a 4) y vale donde una página no dice otra cosa.",
    },
    "en": {
        "page_of_game": "`tute rules KEY` prints the page of a game; a league shows it with the game, under *Rules*.",
        "games": "The games", "game_columns": "| game | players | in one sentence | source |",
        "language": "English", "rules": "Rules", "players": "Players", "source": "Source", "deal": "How a deal goes",
        "trick": "A worked trick", "differences": "Differences from ordinary Tute", "options": "Options", "no_trump": "none",
        "by_table": "What an organiser may choose. “(4) x” applies to four players; – means nothing.",
        "difference_columns": "| | here | ordinary Tute |", "none": "None.",
        "option_columns": "| option | what it changes | values | default |",
        "default": "Default", "trick_columns": "| player | card | rule |",
        "number": "Trick {}", "trump": "trump", "stock": "cards to draw", "trump_after": "Trump afterwards",
        "won": "The {} player wins {} points.", "song": "The {} player scores {} for a pair on the table.",
        "choice": "The {} player, with {} on the table, held: {}.", "may": "Legal cards: {} (rule {}).",
        "picture": "Below, the hand of the {} player; the legal cards are framed.",
        "ordinary": "Ordinary Tute",
        "ordinary_is": "The rules that the family shares (rules book, sections 1 to 4). They apply unless a page says otherwise.",
    },
}  # fmt: skip
# The players of a trick in order of play.
PLACES = {
    "es": ("primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "séptimo"),
    "en": ("first", "second", "third", "fourth", "fifth", "sixth", "seventh"),
}
RULES = {
    "P1": ("quien sale juega cualquier carta", "the leader plays any card"),
    "P2": ("salida de triunfo: montar si puede; si no, otro", "trump led: a higher one if held, else any trump"),
    "P3": ("asistir y montar si puede", "follow suit and beat if possible"),
    "P4": ("ya fallaron: asistir con cualquiera", "already ruffed: any card of the suit"),
    "P5": ("sin triunfos ante triunfo: cualquiera", "trump led and none held: any card"),
    "P6": ("sin el palo: fallar; sin triunfos, cualquiera", "void: ruff; without trumps any card"),
    "P7": ("sin el palo y ya fallado: pisar; si no puede, cualquiera", "void, already ruffed: overruff; else any card"),
    "Q0": ("cualquier carta", "any card"),
    "QT": ("a triunfo, triunfo, sin tener que montar", "trump led: any trump, no duty to beat"),
    "Q2": ("cualquier carta", "any card"),
    "F1": ("asistir, sin tener que montar", "follow suit, no duty to beat"),
    "F2": ("sin el palo: fallar", "void: any trump"),
    "F3": ("sin el palo: cualquiera", "void: any card"),
    "PX": ("gana el compañero: basta asistir", "the partner is winning: following is enough"),
    "NL": ("no gana: solo las de menos puntos (no vale cargar)", "cannot win: only cards of least points (no loading)"),
}
_TEXT = """
dealer_plays|quien da juega la mano|the dealer plays the deal
sides|quiénes suman juntos|who scores together
preset|baraja de la podrida|which pack (podrida)
form|seis cartas y mazo, o todas repartidas|six cards and a stock, or all dealt
deck|baraja|pack
rank_order|fuerza dentro del palo, de mayor a menor|strength within a suit, high to low
rank_points|puntos de las cartas|card points
hand_size|cartas por jugador|cards per seat
deal_packet|cartas que se dan a la vez|cards given at a time
trump_source|qué fija el triunfo|what fixes trump
full_deal_trump|triunfo cuando no sobra carta|trump when no card is left to turn
coins_start|oros es el primer triunfo y sale el dos de oros|coins are the first trump, and the holder of the two of coins leads
trump_dynamics|cómo cambia el triunfo|how trump changes
first_deal|primera mano de la partida|first deal of the match
stock|cartas por robar, la muestra incluida|cards to draw, including the shown card
supply|robar de una en una o manos nuevas|draw one by one, or new hands
next_dealer|quién da después|who deals next
exchange|cambio de la muestra|swap of the shown card
exchange_seven|muestras que toma el siete de triunfo|shown cards that the 7 of trump takes
exchange_two|muestras que toma el dos de triunfo|shown cards that the 2 of trump takes
exchange_chain|el dos puede tomar el siete cambiado|the 2 may take a 7 just exchanged
exchange_trigger|quién puede cambiar|who may exchange
exchange_window|antes o después de robar|before or after the draw
exchange_min_stock|mínimo por robar para cambiar|smallest stock for an exchange
exchange_duty|cambio voluntario u obligado|exchange voluntary or not
auction|clase de subasta|kind of auction
min_bid|apuesta mínima|lowest opening bid
bid_step|escalón de las apuestas|step of the bids
max_bid|apuesta máxima|highest bid
auction_rounds|se habla una vez o por vueltas|each speaks once, or in rounds
all_pass|qué ocurre si todos pasan|what happens when all pass
censor|quien da puede quitar la mano al solista|the dealer may take the soloist's hand for a higher bid
call_own_card|llamar una carta propia|calling a card of one's own hand
passed_may_join|quien pasó puede entrar|players who passed may still join
hook|la última predicción no puede cuadrar|the last prediction may not make the sum equal the number of tricks
discard_draw_max|descartes como máximo|most cards exchanged before play
stock_exhausted|si se acaba el mazo al descartar|when the pack runs out during the exchange
dealer_takes_shown|quien da puede tomar la muestra|the dealer may take the shown card
first_leader|quién sale primero|who leads first
obligation_stock_open|obligación mientras hay mazo|duty of followers while the stock is open
obligation_stock_empty|obligación al seguir, sin mazo|duty of followers with no stock left
partner_exempt|libre si gana el compañero|exempt while the partner is winning
undertrump|sin el palo se falla aunque no se pise|a void hand must ruff even if the trump is too low
beat_after_trumped|hay que montar aunque ya fallaran|beat even in a ruffed trick
no_load|no vale cargar|no loading of lost tricks
hand_songs|quién canta|who may sing
pair_ranks|las dos cartas de un cante|the two cards of a song
song_values|valor de los cantes|values of songs
songs_per_trick|cantes por baza ganada|songs per trick won
song_order|orden de 40 y 20|order of 40 and 20
song_timing|si vale la carta recién robada|whether a card just drawn counts
song_trigger|tras esta baza o tras cualquiera|after this trick, or after any trick won
song_min_stock|mínimo por robar para cantar|smallest stock for songs
sing_first_trick_only|solo tras la primera baza propia|only after the first trick of one's side
singing_mandatory|cantar es obligatorio|singing is compulsory
hide_arrastre_twenty|veinte de arrastre sin mostrar|a 20 with the stock empty stays hidden
table_songs|parejas reunidas en una baza|pairs that meet in a trick
two_table_songs|dos parejas en una baza|two pairs in one trick
hand_song_after_table_song|además se canta de la mano|a hand song may follow a table song
tute|cuatro iguales ganan|four of a rank win the deal
tute_ranks|con qué figuras|which ranks make a tute
tute_first_trick_only|tute solo tras la primera baza propia|tute only after the first trick of one's side
capote|todas las bazas|all tricks
capote_spoiled_by_song|quien cantó pierde con capote|a capote after a song loses
capote_spoiled_by_table_song|el cante de mesa cuenta como canto|a table song counts as having sung
last_trick_bonus|puntos de la última baza|points for the last trick
last_trick_optional|se pueden rehusar|may be declined
result|cómo se decide la mano|how a deal is decided
middle_rule|quién está en el medio|who is in the middle
tricks_soloist|bazas que debe el primero|tricks owed by the soloist
tricks_joiner|bazas que debe quien entra|tricks owed by each joiner
prediction_score|puntos de la predicción|score of predictions
target|puntos que ganan el juego|points that win a game
both_reach|ambos llegan al recuento|both reach the target at the count
tie|empate|ties
min_card_points|mínimo en cartas en la primera mano|fewest card points in the first deal
claim_mode|quién dice que ha llegado|how reaching the target is claimed
claim_from_deal|desde qué mano|first deal in which this holds
claim_window|cuándo se dice|when a claim may be made
settlement|qué vale una mano|what a deal is worth in the match
double_at_101|con 101 vale dos juegos|101 or more wins two games
double_threshold_with_song|ese umbral si cantó|the same threshold for a winner who sang
match_end|cómo acaba la partida|how the match ends
match_minutes|minutos de la sesión, a diez segundos por carta|minutes of a session, at ten seconds a card
match_games|juegos de la partida|games of a match
win_by|ventaja necesaria|lead needed
games_per_coto|juegos por coto|games per coto
cotos_to_win|cotos para ganar|cotos to win
match_deals|número de manos|number of deals
max_losses|porotos que eliminan o acaban la partida|loss marks that end a seat's match
final_duel|los dos últimos juegan un duelo|the last two play a duel
sequence|cartas de cada mano|hand sizes of the deals
unit|fichas por cada cinco puntos|chips per five points of the bid
double_from|apuestas que valen doble|bids from here count double
stake|fichas en juego|stake in chips
ante|puesta|ante
double_threshold_counts_songs|los cantes cuentan para 101|songs count towards that 101
tute_payment|paga cada uno por un tute|paid by each for a tute
illegal_move|jugada ilegal|an illegal card
"""
MEANINGS = {name: (es, en) for name, es, en in (line.split("|") for line in _TEXT.strip().splitlines())}
RANKS = {
    "es": {
        "1": "as", "3": "tres", "R": "rey", "C": "caballo", "S": "sota", "7": "siete", "6": "seis", "5": "cinco", "4": "cuatro",
        "2": "dos", "A": "as", "K": "rey", "Q": "dama", "J": "jota", "T": "diez", "9": "nueve", "8": "ocho",
    },
    "en": {
        "1": "ace", "3": "three", "R": "king", "C": "horse", "S": "jack", "7": "seven", "6": "six", "5": "five", "4": "four",
        "2": "two", "A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten", "9": "nine", "8": "eight",
    },
}  # fmt: skip


def card_name(card: str, lang: str) -> str:
    """Return the name of a card: 'siete de copas', 'seven of cups'."""
    return f"{RANKS[lang][card[:-1]]} {'of' if lang == 'en' else 'de'} {SUITS[lang][card[-1]]}"
