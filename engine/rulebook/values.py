"""The meaning of parameter values to a player, one line each: `name.value|Spanish|English`. Other values are shown as they are."""

from __future__ import annotations

_TEXT = """
sides.single|cada uno para sí|each player alone
sides.pairs|dos parejas enfrentadas|two partnerships
sides.soloist_vs_rest|el solista contra los demás|the soloist against the others
sides.soloist_pair_vs_rest|el solista y un compañero contra los demás|the soloist and a partner against the others
preset.tutecillo|baraja española de 40 cartas|Spanish pack of 40 cards
preset.podrida52|baraja francesa de 52 cartas|French pack of 52 cards
form.stock6|seis cartas a cada uno y un mazo|six cards each and a stock
form.full|se reparten todas|all cards are dealt
deck.es40|40 cartas|40 cards
deck.es39|39 cartas, sin el dos de copas|39 cards, without the two of cups
deck.es36|36 cartas, sin los doses|36 cards, without the twos
deck.fr52|52 cartas francesas|52 French cards
hand_size.deal_no|tantas como el número de la mano|as many as the number of the deal
deal_packet.1|de una en una|one at a time
rank_order.13RSC76542|as, tres, rey, sota, caballo, siete, seis, cinco, cuatro, dos: las cartas del guiñote, también en puntos y cantes\
|ace, three, king, jack, horse, seven, six, five, four, two: guiñote's ranks, in points and songs too
rank_order.13RSC7654|as, tres, rey, sota, caballo, siete, seis, cinco, cuatro: las cartas del guiñote, también en puntos y cantes\
|ace, three, king, jack, horse, seven, six, five, four: guiñote's ranks, in points and songs too
trump_source.turned_stock|una carta vuelta bajo el mazo|a card turned up under the stock
trump_source.centre_card|la carta que sigue a las repartidas, vuelta en el centro|the next card after the deal, turned up in the centre
trump_source.last_dealt|la última carta repartida, de quien da, que la enseña|the last card dealt, which the dealer shows and keeps
trump_source.mano_last|la última carta de la mano, que la enseña|the last card dealt to mano, who shows and keeps it
trump_source.rotating|oros, copas, espadas y bastos por turno|coins, cups, swords and batons in turn
trump_source.named|lo nombra el solista|named by the soloist
trump_source.first_table_pair|no hay, hasta que rey y caballo de un palo caen juntos|none, until king and horse of one suit fall together
full_deal_trump.none|ninguno|none
full_deal_trump.last_card_of_dealer|el palo de la última carta de quien da|the suit of the dealer's last card
trump_dynamics.static|no cambia|it does not change
trump_dynamics.vtt_cycle|cambia con cada triunfo que se juega|it changes with every trump played
trump_dynamics.set_once_next_trick|lo fija la primera pareja, desde la baza siguiente|the first pair fixes it from the next trick on
first_deal.none|como las demás|like every other deal
first_deal.coins_2o|a oros, y es mano quien tiene el dos de oros|in coins, and the holder of the two of coins is mano
shown_card_drawn.False|se queda en la mesa|it stays on the table
shown_card_drawn.True|se roba la última|it is drawn last
draw.winner_first|tras cada baza, una carta cada uno, primero quien la ganó|after each trick one card each, its winner first
supply.draw|una carta tras cada baza|one card after each trick
supply.batches|al acabarse, se reparten manos nuevas|new hands are dealt when the old ones are played out
next_dealer.right|quien se sienta a la derecha|the player on the dealer's right
next_dealer.last_trick_winner|quien ganó la última baza|the winner of the last trick
next_dealer.previous_mano|quien fue mano|the player who was mano
exchange.none|no hay|none
exchange.immediate|en el acto|at once
exchange.deferred|en su turno se deja la carta en la mesa y, al ganar una baza, se toma la muestra|the player lays the card down in their turn and \
takes the shown card on winning a trick
exchange.before_first_lead|antes de la primera salida|before the first lead
exchange_seven.|no cambia|it does not exchange
exchange_two.|no cambia|it does not exchange
exchange_trigger.just_won|quien acaba de ganar la baza|the player who has just won the trick
exchange_trigger.side_just_won|cualquiera del lado que acaba de ganar la baza|either partner of the side that has just won the trick
exchange_trigger.own_turn|cualquiera, en su turno, antes de jugar|anyone at their turn, before playing
exchange_window.both|antes o después de robar|before or after drawing
exchange_window.before_draw|antes de robar|before drawing
exchange_window.after_draw|después de robar|after drawing
exchange_duty.may|voluntario|voluntary
exchange_duty.must|obligatorio|compulsory
auction.none|no hay|none
auction.points|se apuestan puntos|points are bid
auction.pot_contract|se puede apostar un contrato por el plato|a contract for the pot may be bid
auction.play_or_pass|se dice «juego» o «paso»|each says “play” or “pass”
auction.play_then_join|«juego» o «paso»; luego los demás entran o no|“play” or “pass”; then the others join or stay out
auction.trick_prediction|cada uno predice sus bazas|each predicts the tricks to be taken
auction_rounds.single|cada uno habla una vez|each speaks once
auction_rounds.open|por vueltas hasta que solo queda uno; quien pasa no vuelve|in rounds until only one bidder is left; a pass is final
all_pass.next_dealer|da el siguiente|the next dealer deals
all_pass.same_dealer|da el mismo otra vez|the same dealer deals again
all_pass.ordinary_deal|se juega una mano corriente|an ordinary deal is played
soloist_partner.none|ninguno|none
soloist_partner.called_card|quien tiene la carta que llama|the holder of a called card
call_own_card.forbidden|prohibido|forbidden
call_own_card.solo|permitido: juega solo contra todos|allowed: then the soloist plays alone
stock_exhausted.limit|no se cambian más de las que quedan|no more cards may be exchanged than are left
stock_exhausted.reshuffle_out_hands|se barajan las cartas de quienes no juegan|the cards of the players who are out are shuffled
first_leader.mano|la mano|mano
first_leader.soloist|el solista|the soloist
first_leader.first_playing|el primero que juega desde la mano|the first active player, counting from mano
obligation.free|vale cualquier carta|any card may be played
obligation.trump_follow|a triunfo se contesta con triunfo, sin tener que montar; lo demás es libre|a trump lead must be answered with a trump, \
not necessarily a higher one; everything else is free
obligation.follow|hay que asistir al palo, sin tener que montar ni fallar; sin el palo, cualquier carta|follow suit, without having to beat or \
trump; if void, any card
obligation.follow_or_trump|hay que asistir al palo y, sin él, fallar, sin tener que montar ni pisar; si no se puede, cualquier carta|follow suit or, \
if void, play a trump, without having to beat; if impossible, any card
obligation.strict|hay que asistir al palo y montar si se puede (si la baza ya está fallada, basta asistir); sin el palo, fallar o, \
si ya fallaron, pisar; si no se puede, cualquier carta|follow suit and beat if possible (once the trick has been trumped, following is \
enough); if void, play a trump higher than those on the table; if impossible, any card
partner_exempt.none|no|no
partner_exempt.all|basta asistir; sin el palo, cualquier carta|following is enough; if void, any card
partner_exempt.trump_only|sin el palo, cualquier carta|if void, any card
hand_songs.none|nadie|nobody
hand_songs.trick_winner|quien acaba de ganar la baza|the player who has just won the trick
hand_songs.winning_side|cualquiera del lado que acaba de ganar la baza|either partner of the side that has just won the trick
hand_songs.soloist|el solista, si acaba de ganar la baza|the soloist alone, after winning the trick
hand_songs.soloist_side|el solista o su compañero, si acaba de ganar la baza|the soloist or the partner, after winning the trick
pair_ranks.RC|rey y caballo|king and horse
pair_ranks.RS|rey y sota|king and jack
songs_per_trick.many|los que se quiera|as many as one likes
song_order.any|en cualquier orden|in any order
song_order.forty_first|quien ya cantó un 20 no puede cantar el 40|a player who has sung a 20 may not sing the 40
song_order.forty_first_side|si el lado ya cantó un 20 no puede cantar el 40|a side that has sung a 20 may not sing the 40
song_order.forty_first_in_window|de una misma vez, el 40 antes que los 20|on the same occasion the 40 comes before any 20
song_timing.after_draw|vale la carta recién robada|the card just drawn counts
song_timing.before_draw|no vale la carta recién robada|the card just drawn does not count
song_trigger.just_won|haber ganado esta baza|the player has won this trick
song_trigger.has_won_any|haber ganado alguna baza|the player has won some trick
table_songs.none|no cuentan|they do not count
table_songs.forced|cuentan para quien gana la baza, quiera o no|they count for the winner of the trick, even against their will
table_songs.forced_first_40|los primeros de la mano cuentan 40 y fijan el triunfo; los siguientes, 20|the first of the deal count 40 and fix \
trump; later ones 20
two_table_songs.all|se apuntan las dos|both are scored
two_table_songs.best_only|solo la mejor|only the better one
tute.none|no hay|none
tute.wins|gana la mano en el acto|it wins the deal at once
tute_ranks.RC|reyes o caballos|kings or horses
tute_ranks.R|reyes|kings
tute_ranks.C|caballos|horses
tute_ranks.RS|reyes o sotas|kings or jacks
tute_ranks.S|sotas|jacks
capote.none|no cuenta aparte|nothing special
capote.announced|se anuncia al acabarse el mazo: todas las bazas que quedan ganan el juego, una perdida lo pierde|announced when the stock has \
run out: taking all remaining tricks wins the game, losing one loses it
capote.swept|si uno hace todas las bazas, pierden los demás|if one player takes all tricks, all others lose
result.most_points_wins|gana quien suma más|most points win
result.fewest_points_loses|pierde quien suma menos|fewest points lose
result.to_target|gana el juego quien alcanza el objetivo|reaching the target wins the game
result.middle_loses|de quienes ganaron bazas pierden los que quedan en medio|among the players who took tricks, those in the middle lose
result.most_points_loses_unless_101|pierde quien suma más; pero si alguien llega a 101, el que más suma gana y pierden los demás|most points \
lose; but if a player has 101, the highest total wins and all others lose
result.middle_of_three_loses|pierde quien queda en medio; dos iguales arriba pierden ambos, dos iguales abajo hacen perder al tercero, tres \
iguales pierden todos|the player in the middle loses; if two tie for the top, both lose; if two tie for the bottom, the third loses; if all \
three tie, all lose
result.cabron_loses|pierde quien no hizo bazas; si no hay, quien pasa de 100; si no hay, el de en medio; si no hay, los igualados|players \
without a trick lose; else those with more than 100; else the one in the middle; else those who tie
result.soloist_reaches_bid|el solista gana si llega a lo apostado|the soloist wins by reaching the bid
result.soloist_side_more_points|el lado del solista gana si suma más que el otro|the soloist's side wins with more points than the other
result.soloist_side_best_single|gana el lado del solista si es suyo el jugador que más suma|the soloist's side wins if the highest single total \
is theirs
result.trick_commitments|cada uno debe hacer las bazas prometidas|each must take the promised tricks
result.exact_prediction|acierta quien hace justo las bazas que dijo|the players who take exactly the predicted tricks are right
middle_rule.all_between|todos los que están entre el más alto y el más bajo|everyone between the highest and the lowest
middle_rule.second|solo el segundo|only the second
middle_rule.median|el del centro, si son tres o cinco|the median, of three or five
prediction_score.ten_plus_three|acertar vale 10 y 3 por baza; fallar, −3 por baza de diferencia|a right prediction scores 10 and 3 a trick; a \
wrong one −3 for each trick of difference
prediction_score.hit_or_miss|acertar vale 1; fallar, 0|a right prediction scores 1, a wrong one 0
both_reach.higher_total|el total más alto|the higher total
both_reach.last_trick|quien ganó la última baza|the winner of the last trick
both_reach.first_reached|quien llegó antes|whoever reached it first
tie.last_trick|decide la última baza|the last trick decides
tie.last_trick_or_none|la última baza, si es de uno de ellos; si no, nadie|the last trick, if a tied player took it; else nobody
tie.drawn|tablas|a drawn deal
tie.split|se reparte|it is shared
tie.both_lose|pierden los dos|both lose
tie.replay|se juega otra vez|it is played again
tie.level_lose|sin nadie en medio: de dos, el más bajo; si no, los igualados|nobody in the middle: of two the lower; else those who tie
tie.all_takers_lose|pierden todos los que hicieron bazas|all who took tricks lose
tie.seat_order|vale más quien jugó antes en la primera baza|whoever played earlier in the first trick counts as higher
claim_mode.none|nadie lo dice: decide la cuenta|no claims: the count decides
claim_mode.claim|quien cree que ha llegado lo dice; si se equivoca, pierde el juego|a player who believes they have reached it says so; a wrong \
claim loses the game
claim_mode.auto|el juego acaba solo en cuanto alguien llega|the game ends automatically when a player reaches it
claim_window.own_turn|en el propio turno, antes de jugar|in one's own turn, before playing
claim_window.post_trick|tras ganar una baza, antes de salir|after winning a trick, before leading
settlement.games|un juego para quien gana|one game for the winner
settlement.loss_marks|un poroto para cada perdedor|a loss mark for each loser
settlement.chips|fichas|chips
settlement.points|puntos|points
match_end.race|gana quien llega antes a ese número de juegos|first to that number of games
match_end.series|se juegan esos juegos|exactly that many games
match_end.cotos|por cotos|by cotos
match_end.deals|un número fijo de manos|a fixed number of deals
match_end.losses|cuando alguien tiene demasiados porotos, pierde|a player with too many loss marks loses
match_end.elimination|quien tiene demasiados porotos sale; ganan los últimos, cuando quedan menos de tres|a player with too many loss marks \
leaves; when fewer than three are left, they win
match_end.clock|cuando se acaba el tiempo: esa mano es la última, y gana quien ganó más juegos|when the time is up: that deal is the last one, and \
most games win
match_end.sequence|al acabar la serie de manos gana el total más alto|after the series of deals the highest total wins
sequence.up|de una carta en adelante|from one card upwards
sequence.up_down|hacia arriba y otra vez hasta una|up and down to one again
sequence.down_up|hacia abajo y otra vez arriba|down to one and up again
payments.none|no hay|none
illegal_move.reject|no se admite|refused
illegal_move.lose_game|pierde el juego|loses the game
illegal_move.two_marks|pierde él solo, dos porotos|the offender alone loses, two marks
illegal_move.one_mark|pierde él solo, un poroto|the offender alone loses, one mark
illegal_move.accuse|vale si nadie acusa a quien la jugó, en su turno o antes de contar; acusar mal es perder|it stands unless another player \
accuses the offender, at a turn or before the count; a wrong accusation loses
"""
WORDS = {name: (es, en) for name, es, en in (line.split("|") for line in _TEXT.strip().splitlines())}


def meant(name: str, value: object, lang: str) -> str | None:
    """Return what a value of a parameter means to a player; None if the value speaks for itself."""
    name = "obligation" if name.startswith("obligation_") else name
    texts = WORDS.get(f"{name}.{'' if value is None else value}")
    return texts[lang == "en"] if texts else None
