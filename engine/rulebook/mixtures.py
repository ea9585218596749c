"""Mixtures of options that players know by a name, such as "tute cabrón" or "with a pot"."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.game import declared, load

# key | game | players (empty: every table of the game that knows the options) | options | name and what changes, in Spanish | the same in English
_TEXT = """
cabron|gana_pierde_3||{"result": "cabron_loses"}|Tute cabrón|Pierde quien no hizo bazas; si no hay, quien pasa de 100; si no, el de en medio.\
|Tute cabrón|Players without a trick lose; else those with more than 100; else the one in the middle.
plato|arrastrado||{"auction": "pot_contract"}|Arrastrado con plato|Antes de salir se puede apostar un contrato por el plato.\
|Arrastrado with a pot (plato)|Before the first lead a player may bid a contract for the pot.
cuatro_juegan|arrastrado|4|{"dealer_plays": true}|Arrastrado de cuatro|Quien da también juega, con diez cartas cada uno.\
|Arrastrado for four|The dealer plays too, with ten cards each.
censor|subastado|4|{"censor": true}|Subastado con censor|Quien da ve la mano del solista y puede quitársela por una apuesta mayor.\
|Subastado with a censor|The dealer sees the soloist's hand and may take it over for a higher bid.
desde_50|subastado||{"min_bid": 50}|Subastado desde 50|La apuesta mínima es 50.|Subastado from 50|The lowest bid is 50.
desde_70|subastado||{"min_bid": 70}|Subastado desde 70|La apuesta mínima es 70.|Subastado from 70|The lowest bid is 70.
de_diez|subastado||{"bid_step": 10}|Subastado de diez en diez|Las apuestas suben de diez en diez.\
|Subastado in tens|Bids go up in tens.
con_vueltas|subastado||{"auction_rounds": "open"}|Subastado con vueltas|Se puja por vueltas hasta que solo queda uno.\
|Subastado in rounds|The bidding goes around until only one bidder is left.
canta_la_mesa|chancho||{"hand_songs": "none"}|Chancho: solo canta la mesa|Solo cuentan el rey y el caballo que caen juntos en una baza.\
|Chancho: only the table sings|Only a king and horse that fall in one trick count.
triunfos_alternos|cabrero|4,5,6|{"trump_source": "rotating"}|Cabrero con triunfos por turno\
|No se enseña carta: el triunfo es oros, copas, espadas y bastos por turno.\
|Cabrero with trumps in turn|No card is shown: coins, cups, swords and batons are trump in turn.
hasta_uno|cabrero||{"final_duel": true}|Cabrero hasta que queda uno|Los dos últimos juegan un duelo al tute de a dos.\
|Cabrero to the last player|The last two play a duel of Tute de a dos.
con_renuncio|cabrero||{"illegal_move": "accuse"}|Cabrero con renuncio|Una carta ilegal vale si nadie acusa a quien la jugó; acusar mal es perder.\
|Cabrero with accusations|An illegal card stands unless somebody accuses the offender; a wrong accusation loses.
canta_el_companero|partnership||{"hand_songs": "winning_side"}|Canta también el compañero|Tras ganar una baza puede cantar cualquiera de los dos.\
|The partner sings too|After a trick either partner of the winning side may sing.
vale_dos|partnership||{"double_at_101": true}|Con 101 vale dos|Ganar con 101 o más vale dos juegos.\
|101 wins two|A win with 101 or more counts as two games.
no_vale_cargar|partnership||{"no_load": true}|No vale cargar|Quien no puede ganar la baza echa, de las cartas permitidas, una de las que menos valen.\
|No loading|A player who cannot win the trick plays a legal card of the least value.
cartas_de_guinote|partnership||{"rank_order": "13RSC76542"}|Con las cartas del guiñote\
|La sota gana al caballo y vale 3; el caballo, 2; se cantan rey y sota.\
|With guiñote's ranks|The jack beats the horse and is worth 3, the horse 2; king and jack sing.
dos_de_ventaja|partnership||{"win_by": 2}|Con dos de ventaja|La partida sigue hasta que una pareja saca dos juegos a la otra.\
|Two ahead|The match goes on until one side leads by two games.
a_tres|partnership||{"match_games": 3}|A tres juegos|Gana la partida quien llega antes a tres juegos.\
|First to three games|The first side with three games wins the match.
por_tandas|brisca||{"supply": "batches"}|Brisca por tandas|No se roba: al acabarse, se reparten manos nuevas.\
|Brisca in batches|Nobody draws: new hands are dealt when the old ones are played out.
cada_uno|brisca|4|{"sides": "single"}|Brisca cada uno para sí|Cuatro jugadores sin parejas.\
|Brisca without partners|Four players, each alone.
francesa|podrida||{"preset": "podrida52"}|Podrida con baraja francesa|52 cartas francesas en vez de 40 españolas.\
|Podrida with French cards|52 French cards instead of 40 Spanish ones.
subir_y_bajar|podrida||{"sequence": "up_down"}|Podrida de subir y bajar|De una carta hacia arriba y otra vez hasta una.\
|Podrida up and down|From one card upwards and down to one again.
diez_cartas|two_player||{"hand_size": 10}|Con diez cartas|Diez cartas a cada uno y veinte por robar.\
|With ten cards|Ten cards each and twenty to draw.
media_hora|individual||{"match_end": "clock", "match_minutes": 30}|Media hora|Treinta minutos, a diez segundos por carta; gana quien gana más juegos.\
|Half an hour|Thirty minutes, at ten seconds a card; most games win.
sin_mazo|guinote|4|{"form": "full"}|Guiñote sin mazo|Se reparten todas las cartas.|Guiñote without a stock|All cards are dealt.
"""


@dataclass(frozen=True)
class Mixture:
    """A named mixture of options of one game. `players`: the numbers of players for which it exists."""

    key: str
    game: str
    players: tuple[int, ...]
    options: Mapping[str, Any]
    titles: Mapping[str, str]
    lines: Mapping[str, str]

    def load(self, players: int) -> Any:
        """Load the game with these options."""
        return load(self.game, players=players, **self.options)


@cache
def mixtures(game: str) -> tuple[Mixture, ...]:
    """Return the named mixtures of a game."""
    return tuple(mixture for mixture in all_mixtures() if mixture.game == game)


@cache
def all_mixtures() -> tuple[Mixture, ...]:
    """Return the named mixtures of all games."""
    return tuple(map(_read, _TEXT.strip().splitlines()))


def _read(line: str) -> Mixture:
    key, game, players, options, title_es, line_es, title_en, line_en = line.split("|")
    numbers = tuple(map(int, players.split(","))) if players else tuple(sorted(declared(game).players))
    titles, lines = {"es": title_es, "en": title_en}, {"es": line_es, "en": line_en}
    return Mixture(key, game, numbers, json.loads(options), titles, lines)
