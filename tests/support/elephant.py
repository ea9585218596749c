"""A bot that tries to remember: it is built to recognise a deal that it has seen from another seat, and to play it with all cards known.

`source` writes it as one source file. It stores what it saw of a deal in its process, as a file wherever it may create one, and in the environment,
and it looks in these places first. If it finds nothing it takes the first legal action, as its twin without memory always does.
"""

from __future__ import annotations

from pathlib import Path

SOURCE = '''
import itertools, json, os, sys
RECALLS = {recalls}    # whether it uses what it remembers; the twin does not
THROUGH_SUITS = {through_suits}    # whether it sees through suits that have been exchanged
PLACES = [place or os.getcwd() for place in {places}]
MARK = "elephant."    # what is kept stands in the names of empty files: no limit on the size of files is in the way
PACK = [rank + suit for suit in "oceb" for rank in "24567SCR31"]
kept = []    # of this process


def keep(deal):
    owners = {{card: seat for seat, hand in enumerate(deal["hands"]) for card in hand}}
    text = ".".join([str(deal["dealer"]), deal["shown"], "".join(str(owners[card]) for card in PACK)])
    kept.append(text)
    os.environ["ELEPHANT"] = " ".join([*os.environ.get("ELEPHANT", "").split(), text])
    for place in PLACES:
        try:
            os.close(os.open(os.path.join(place, MARK + text), os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue


def remembered():
    texts = kept + os.environ.get("ELEPHANT", "").split()
    for place in PLACES:
        try:
            texts += [name[len(MARK):] for name in os.listdir(place) if name.startswith(MARK)]
        except OSError:
            continue
    found = []
    for text in set(texts):
        dealer, shown, owners = text.split(".")
        hands = [[card for card, owner in zip(PACK, owners) if int(owner) == seat] for seat in range(4)]
        found.append({{"hands": hands, "dealer": int(dealer), "shown": shown}})
    return found


def same_deal(old, deal, seat):
    """All four hands of a deal, if it is one that was seen before."""
    orders = itertools.permutations("oceb") if THROUGH_SUITS else [tuple("oceb")]
    for order in orders:
        new = dict(zip("oceb", order))
        hands = [sorted(card[0] + new[card[1]] for card in hand) for hand in old["hands"]]
        shown = old["shown"][0] + new[old["shown"][1]]
        if (old["dealer"], shown, hands[seat]) == (deal["dealer"], deal["shown"], sorted(deal["hand"])):
            return hands
    return None


def known_world(hands, deal, plays):
    """The present position, with every card in its place: the engine deals a pack that we stack."""
    import engine
    from engine.cards import chance
    game = engine.load("partnership")
    pack, dealer = game.pack, deal["dealer"]
    stacks = {{s: [c for c in hands[s] if c != deal["shown"]] for s in range(4)}}
    stacks[dealer].append(deal["shown"])    # the last card dealt is the one shown
    order = [(dealer + 1 + n) % 4 for n in range(4)]
    deck = [pack.flag[pack.parse(stacks[s][n])] for n in range(10) for s in order]
    chance.shuffle = lambda *_: deck
    chance.pick = lambda *_: dealer
    state = game.new_match(seed=0, deals=1, record=False)
    for text in plays:
        state.apply(game.parse_action(text))
    return game, state


def best(game, state, side):
    """The action after which first legal actions of all do best: both sides play so when they remember nothing."""
    def worth(action):
        copy = state.clone()
        copy.apply(action)
        while not copy.is_over:
            copy.apply(copy.legal_actions()[0])
        points = copy.returns()
        return points[side] - points[1 - side]
    return game.action_text(max(state.legal_actions(), key=worth))


deal, plays, seat, hands = None, [], 0, None
recalled = 0


def see(event):
    global deal, plays, hands, recalled
    kind = event["e"]
    if kind == "deal":
        deal, plays = event, []
        hands = None
        for old in remembered():
            hands = hands or same_deal(old, deal, seat)
        recalled += hands is not None
    elif kind in ("play", "song", "tute"):
        word = {{"play": "play", "song": "sing", "tute": "tute"}}[kind]
        plays.append(f'{{word}} {{event.get("card") or event.get("suit") or event.get("rank")}}')
        cards = sum(text.startswith("play") for text in plays)
        if cards == 40:
            seen, players = [[], [], [], []], [e for e in trail if e["e"] == "play"][-40:]
            for one in players:
                seen[one["seat"]].append(one["card"])
            keep({{"hands": seen, "dealer": deal["dealer"], "shown": deal["shown"]}})


trail = []
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        seat = m["seat"]
        print('{{"type":"ready"}}', flush=True)
        continue
    for event in m["events"]:
        trail.append(event)
        see(event)
    if m["type"] == "end":
        print(f"kept {{len(kept)}} recalled {{recalled}}", file=sys.stderr, flush=True)
        break
    do = m["legal"][0]
    if RECALLS and hands:
        do = best(*known_world(hands, deal, plays), seat % 2)
    print(json.dumps({{"id": m["id"], "do": do}}), flush=True)
'''


MARK = "elephant."  # Prefix of the names of its files
EVERYWHERE = ("", "/tmp", "/var/tmp", "/dev/shm", "/run", "/root", "/home")  # The empty name is the bot's own folder.


def source(*places: Path | str, recalls: bool, through_suits: bool = True) -> str:
    """Return the source of the bot; `places` are folders in which it tries to store files."""
    return SOURCE.format(recalls=recalls, through_suits=through_suits, places=[str(place) for place in places])
