// The Tute League for bots in Go: the protocol, and the view of a seat. One file; it needs only the standard library.
//
//	func main() {
//		Run("my bot", func(view *View) string { return view.Legal[0] })
//	}
//
// A card is its index in the pack of the game, suit by suit and strongest first: view.Name[card] is its text, view.CardOf("1o") the inverse; -1 is
// no card. A set of cards (Cards) has one bit per card. The kits in C, JavaScript and Rust use the same names and deal the same cards for a seed.
//
// Proofs by plays: a seat that breaks a duty holds no card that it would have had to play instead. The duties are to follow suit, to beat, to trump
// and not to load a lost trick (no_load). After a hidden draw a seat may hold as many of those cards as it has drawn since. A seat that had to
// sing and did not held no pair; a soloist calls a card of another seat; a seat that sings a hidden suit holds some pair. Calls in an auction prove
// nothing.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
)

// A Card is an index in the pack, or -1.
type Card = int

// Cards is a set of cards.
type Cards = uint64

const (
	never = 99    // no play proved that a seat lacks a card
	tries = 10000 // rejected deals before giving up; at the league's tables at least one deal in six agreed
)

// --- the rules of the games

// >>> written by `make texts` from engine/games; do not edit
const rulesOfGames = `{"demands":{"free":"00000000000000000","trump_follow":"00000000101010100","follow":"10101010101010100","follow_or_trump":"11111111101010100","strict none false false":"21211313202010101","strict none false true":"21212323202010101","strict none true false":"21211212202010101","strict none true true":"21212222202010101","strict trump_only false false":"21201310202010101","strict trump_only false true":"21202320202010101","strict trump_only true false":"21201210202010101","strict trump_only true true":"21202220202010101","strict all false false":"21101310201010101","strict all false true":"21102310201010101","strict all true false":"21101210201010101","strict all true true":"21102210201010101"},"tute":{"sides":"single","deck":"es40","rank_order":"13RCS76542","rank_points":{"1":11,"3":10,"R":4,"C":3,"S":2},"auction":"none","passed_may_join":null,"call_own_card":"forbidden","obligation_stock_open":"free","obligation_stock_empty":"strict","partner_exempt":"none","undertrump":false,"beat_after_trumped":false,"no_load":false,"hand_songs":"trick_winner","pair_ranks":"RC","songs_per_trick":1,"song_order":"any","song_values":{"trump":40,"other":20},"table_songs":"none","sing_first_trick_only":false,"singing_mandatory":false,"tute":"wins","tute_ranks":"RC","tute_first_trick_only":false,"last_trick_bonus":10,"result":"most_points_wins","target":null,"settlement":"games","illegal_move":"reject"},"games":{
"a_dos":{"result":"fewest_points_loses","settlement":"loss_marks"},
"americano":{"obligation_stock_open":"trump_follow","tute":"none","result":"to_target","target":121},
"arrastrado":{"song_order":"forty_first","settlement":"chips"},
"bato":{"rank_points":{},"auction":"play_then_join","passed_may_join":true,"hand_songs":"none","tute":"none","last_trick_bonus":0,"result":"trick_commitments","settlement":"chips"},
"brisca":{"sides":{"2p":"single","3p":"single","4p":"pairs"},"deck":{"2p":"es40","3p":"es36","4p":"es40"},"obligation_stock_empty":"free","hand_songs":"none","tute":"none","last_trick_bonus":0},
"cabrero":{"result":"middle_loses","settlement":"loss_marks"},
"chancho":{"table_songs":"forced","result":"middle_loses","settlement":"loss_marks"},
"codillo":{"sides":"soloist_pair_vs_rest","auction":"play_or_pass","no_load":true,"result":"soloist_side_more_points","settlement":"chips"},
"corriente":{"result":"to_target","target":101},
"gana_pierde_3":{"deck":"es36","rank_order":"13RCS7654","hand_songs":"none","table_songs":"forced_first_40","tute":"none","result":"middle_of_three_loses","settlement":"loss_marks"},
"gana_pierde_4_5":{"song_order":"forty_first","table_songs":"forced","tute":"none","result":"most_points_loses_unless_101","settlement":"loss_marks"},
"guinote":{"sides":{"2p":"single","3p":"single","4p":"pairs"},"rank_order":"13RSC76542","rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"partner_exempt":"all","hand_songs":"winning_side","pair_ranks":"RS","tute_ranks":"RS","result":"to_target","target":101},
"habanero":{"result":"to_target","target":101},
"havanian":{"obligation_stock_open":"trump_follow","tute":"none","result":"to_target","target":101},
"individual":{"obligation_stock_open":"strict","song_order":"forty_first"},
"partnership":{"sides":"pairs","song_order":"forty_first"},
"podrida":{"rank_points":{},"auction":"trick_prediction","obligation_stock_empty":"follow","hand_songs":"none","tute":"none","last_trick_bonus":0,"result":"exact_prediction","settlement":"points"},
"remate":{"sides":"soloist_vs_rest","deck":{"3p":"es36","4p":"es40","5p":"es40"},"auction":"points","no_load":true,"hand_songs":"soloist","result":"soloist_reaches_bid","settlement":"chips"},
"subastado":{"sides":"soloist_vs_rest","deck":"es36","rank_order":"13RCS7654","auction":"points","hand_songs":"soloist","song_order":"forty_first","tute":"none","result":"soloist_reaches_bid","settlement":"chips"},
"two_player":{"obligation_stock_open":"strict","songs_per_trick":"many","song_order":"forty_first_in_window"},
"variable_trump":{"sides":"pairs","hand_songs":"winning_side","song_values":{"trump":20,"other":20},"tute_first_trick_only":true}
},"implied":{"a_dos":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"americano":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"arrastrado":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"bato":{"no_load=true":{"rank_points":{"1":11,"3":10,"R":4,"C":3,"S":2}},"match_end=losses":{"settlement":"loss_marks"}},"brisca":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"cabrero":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"chancho":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"codillo":{"match_end=losses":{"settlement":"loss_marks"},"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"corriente":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"gana_pierde_3":{"rank_order=13RSC7654":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"gana_pierde_4_5":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"habanero":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"havanian":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"individual":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"partnership":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"podrida":{"preset=podrida52":{"deck":"fr52","rank_order":"AKQJT98765432"}},"remate":{"match_end=elimination":{"settlement":"loss_marks"},"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"subastado":{"rank_order=13RSC7654":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"two_player":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}}}}`

// <<< written by `make texts`

type table = map[string]any

func decode(text string) table {
	var object table
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		panic(err)
	}
	return object
}

func field(object any, name string) any {
	fields, _ := object.(table)
	return fields[name]
}

func whole(object any, name string, otherwise int) int {
	if number, ok := field(object, name).(float64); ok {
		return int(number)
	}
	return otherwise
}

func word(object any, name string) string {
	text, _ := field(object, name).(string)
	return text
}

func list(object any, name string) []any {
	items, _ := field(object, name).([]any)
	return items
}

// A parameter of the table by its name in the rules book: from the options, or else from the game.
func rule(rules, hello table, name string) any {
	game := word(hello, "game")
	value := field(rules["tute"], name)
	take := func(other any) {
		if other != nil {
			value = other
		}
	}
	take(field(field(rules["games"], game), name))
	options, _ := hello["options"].(table)
	for option, choice := range options {
		take(field(field(field(rules["implied"], game), fmt.Sprintf("%s=%v", option, choice)), name))
	}
	take(options[name])
	if chosen := field(value, fmt.Sprintf("%dp", whole(hello, "seats", 2))); chosen != nil {
		return chosen
	}
	return value
}

// The demands of a duty on a follower's cards of one suit: none; one of them; a higher one, else one of them; a higher one, else any card.
const (
	anyCard     = '0'
	all         = '1'
	higherOrAll = '2'
)

// The demands of an obligation of the table, two digits per situation: on cards of the suit led, and on trumps if the hand has none of that suit. A
// situation is a number: 4 if trumps were led, plus 2 if a trump is winning another suit, plus 1 if the partner is winning.
func demandsOf(rules, hello table, name string) string {
	key := fmt.Sprint(rule(rules, hello, name))
	long := fmt.Sprintf("%s %v %v %v", key, rule(rules, hello, "partner_exempt"), rule(rules, hello, "undertrump"), rule(rules, hello, "beat_after_trumped"))
	if demands := word(rules["demands"], long); demands != "" {
		return demands
	}
	return word(rules["demands"], key)
}

// --- the knowledge of a seat

// A Song is one whose suit is hidden, with the pair of each suit that it may be.
type Song struct {
	Seat int
	May  [4]bool
	Pair [4]Cards
}

// View is the knowledge of a seat. A suit is a letter (o coins, c cups, e swords, b batons), or 0.
type View struct {
	Game      string
	Seats     int      // how many
	Seat      int      // yours
	Side      []int    // the side of each seat
	Seed      uint32   // for your own random choices
	Size      int      // cards in the pack
	Name      []string // the text of each card
	Value     []int    // card points
	Strength  []int    // within the suit, 0 for the weakest
	Hand      Cards    // your cards
	Table     []Card   // the cards of the trick
	By        []int    // who played them
	Best      int      // index on the table of the winning card, -1 before a lead
	Led       byte     // a suit
	Trump     byte
	Shown     Card       // the card that fixed the trump
	Stock     int        // cards to be drawn, the shown one included
	Played    []Card     // cards of the deal in order
	Unseen    Cards      // cards whose place you do not know
	Known     []Cards    // cards that a seat certainly holds; not your own
	Counts    []int      // cards left in each hand
	Barred    []Cards    // cards that a seat did not hold at its last play, by the duties; a hidden draw ends this knowledge
	NotAll    [][8]Cards // by seat, sets (of a suit, of a rank) of which it does not hold every card; 0: nothing is known
	Songs     []Song     // whose suit is hidden
	Tricks    []int      // won in this deal, by seat
	Winner    int        // of the last trick, or -1
	Scored    []int      // cards, songs and last trick in this deal, by seat
	Soloist   int        // from an auction, or -1
	Partner   int
	Out       []bool   // true for a seat that is not in this deal
	Call      []string // the last call of each seat in an auction
	Predicted []int    // tricks that a seat says it will take
	Totals    []int    // points carried into this deal, by side
	Sung      string   // suits
	Legal     []string // the legal answers

	// Of the rules book: points that win the match, or 0; of songs; of the last trick; who may sing; ranks of a pair; obligation_stock_open.
	Target, SongTrump, SongOther, Bonus                             int
	Result, Settlement, TableSongs, HandSongs, PairRanks, StockDuty string

	age                                                                       [][]int // for each unseen card that a seat was proved to lack, the number of hidden cards drawn since; else never
	notice                                                                    Card
	open, byAuction, proves, noLoad, callsOwn, mustSing, singFirst, tuteFirst bool
	joins, passEnds                                                           bool
	mostSongs                                                                 int
	said                                                                      []int // songs since the last trick, by seat
	twenty                                                                    []bool
	demandsOpen, demandsEmpty, order, tutes                                   string
}

// A Deal is a way in which the hidden cards may lie.
type Deal struct {
	Hands []Cards // your own among them
	Rest  []Card  // cards in no hand: the stock, face down, and cards that others put away
}

func bit(card Card) Cards {
	if card < 0 {
		return 0
	}
	return 1 << card
}

// Count returns the number of cards in a set.
func Count(cards Cards) int { return bits.OnesCount64(cards) }

// List returns the cards of a set, in the order of the pack.
func List(cards Cards) []Card {
	var ordered []Card
	for ; cards != 0; cards &= cards - 1 {
		ordered = append(ordered, bits.TrailingZeros64(cards))
	}
	return ordered
}

func letter(text string) byte {
	if text == "" {
		return 0
	}
	return text[0]
}

func newView(hello table) *View {
	rules := decode(rulesOfGames)
	get := func(name string) string { return fmt.Sprint(rule(rules, hello, name)) }
	points := func(name, key string) int { return whole(rule(rules, hello, name), key, 0) }
	number := func(name string, otherwise int) int { return whole(table{"": rule(rules, hello, name)}, "", otherwise) }
	view := &View{
		Game: word(hello, "game"), Seats: whole(hello, "seats", 2), Seat: whole(hello, "seat", 0), Seed: uint32(whole(hello, "seed", 0)),
		Bonus: number("last_trick_bonus", 0), Target: number("target", 0), SongTrump: points("song_values", "trump"), SongOther: points("song_values", "other"),
		Result: get("result"), Settlement: get("settlement"), TableSongs: get("table_songs"), HandSongs: get("hand_songs"), PairRanks: get("pair_ranks"),
		StockDuty: get("obligation_stock_open"), order: get("song_order"),
		byAuction: strings.HasPrefix(get("sides"), "soloist"), joins: get("auction") == "play_then_join", passEnds: get("passed_may_join") == "false",
		proves:    get("illegal_move") != "accuse", // if others must accuse, a seat may play an illegal card
		noLoad:    get("no_load") == "true",
		callsOwn:  get("call_own_card") == "solo",
		mustSing:  get("singing_mandatory") == "true",
		singFirst: get("sing_first_trick_only") == "true", tuteFirst: get("tute_first_trick_only") == "true",
		mostSongs:   number("songs_per_trick", never),
		demandsOpen: demandsOf(rules, hello, "obligation_stock_open"), demandsEmpty: demandsOf(rules, hello, "obligation_stock_empty"),
	}
	if get("tute") == "wins" {
		view.tutes = get("tute_ranks")
	}
	view.Side = make([]int, view.Seats)
	view.Totals = make([]int, len(list(hello, "sides")))
	for side, seats := range list(hello, "sides") {
		for _, seat := range seats.([]any) {
			view.Side[int(seat.(float64))] = side
		}
	}
	suits, ranks, deck := "oceb", get("rank_order"), get("deck")
	if deck == "fr52" {
		suits = "shdc"
	}
	for _, suit := range suits {
		for place, rank := range ranks {
			if rank == '2' && (deck == "es36" || (deck == "es39" && suit == 'c')) {
				continue
			}
			view.Name = append(view.Name, string(rank)+string(suit))
			view.Value = append(view.Value, points("rank_points", string(rank)))
			view.Strength = append(view.Strength, len(ranks)-1-place)
		}
	}
	view.Size = len(view.Name)
	view.beginDeal(table{})
	return view
}

// CardOf returns the card of a text such as "1o", or -1.
func (view *View) CardOf(text string) Card { return slices.Index(view.Name, text) }

// Suit returns the suit of a card.
func (view *View) Suit(card Card) byte { return view.Name[card][1] }

// Plays returns the card that a legal text plays, or -1.
func (view *View) Plays(action string) Card {
	if card, ok := strings.CutPrefix(action, "play "); ok {
		return view.CardOf(card)
	}
	return -1
}

// Together returns true if two seats are on one side.
func (view *View) Together(a, b int) bool {
	solo := func(seat int) bool { return seat == view.Soloist || seat == view.Partner }
	if view.byAuction && view.Soloist >= 0 {
		return solo(a) == solo(b)
	}
	return view.Side[a] == view.Side[b]
}

// Points returns the points of a side in this deal.
func (view *View) Points(side int) int {
	sum := 0
	for seat, points := range view.Scored {
		if view.Side[seat] == side {
			sum += points
		}
	}
	return sum
}

// Beats returns true if a card, played later, beats another one of this trick.
func (view *View) Beats(card, other Card) bool {
	if view.Suit(card) == view.Suit(other) {
		return card < other
	}
	return view.Suit(card) == view.Trump || (view.Suit(card) == view.Led && view.Suit(other) != view.Trump)
}

// Lacks returns true if a seat certainly does not hold a card.
func (view *View) Lacks(seat int, card Card) bool {
	if seat == view.Seat {
		return view.Hand&bit(card) == 0
	}
	return view.Known[seat]&bit(card) == 0 && (view.Unseen&bit(card) == 0 || view.age[seat][card] == 0)
}

// IsVoid returns true if a seat certainly holds no card of a suit.
func (view *View) IsVoid(seat int, suit byte) bool {
	for _, card := range List(view.Above(suit, -1)) {
		if !view.Lacks(seat, card) {
			return false
		}
	}
	return true
}

// See updates the view by an event. Kinds that change nothing here are ignored.
func (view *View) See(event table) {
	by, card := whole(event, "seat", -1), view.CardOf(word(event, "card"))
	seat, kind := max(by, 0), word(event, "e")
	of := whole(event, "of", 0)
	switch kind {
	case "deal":
		view.beginDeal(event)
	case "play":
		view.beforeLead()
		view.goes(seat, card)
		view.Counts[seat]--
		if len(view.Table) == 0 {
			view.Led = view.Suit(card)
			view.open = view.Stock > 0
		} else if seat != view.Seat {
			view.learn(seat, card)
		}
		view.Played = append(view.Played, card)
		view.By = append(view.By, seat)
		view.Table = append(view.Table, card)
		view.judgeTable()
	case "trick":
		view.Scored[seat] += whole(event, "points", 0)
		if event["last"] == true {
			view.Scored[seat] += view.Bonus
		}
		view.Tricks[seat]++
		view.Winner = by
		clear(view.said)
		view.Table, view.By, view.Led, view.Best = nil, nil, 0, -1
	case "draw":
		view.Counts[seat]++
		view.Stock = max(0, view.Stock-1)
		if seat != view.Seat || card >= 0 {
			view.comes(seat, card)
		}
	case "take":
		view.Counts[seat]++
		view.comes(seat, card)
		view.Shown = -1
	case "notice":
		view.notice = card
		view.goes(seat, card)
		view.Counts[seat]--
	case "return":
		view.notice = -1
		view.comes(seat, card)
		view.Counts[seat]++
	case "exchange":
		gives := view.CardOf(word(event, "gives"))
		if view.notice == gives {
			view.notice = -1
			view.Counts[seat]++
		}
		view.goes(seat, gives)
		view.comes(seat, view.CardOf(word(event, "takes")))
		view.Shown = gives
	case "discard":
		view.Counts[seat] -= whole(event, "count", 0)
		for _, text := range list(event, "cards") {
			view.goes(seat, view.CardOf(text.(string)))
		}
		if event["cards"] == nil { // the seat may have put away cards that it had shown
			view.Unseen |= view.Known[seat]
			view.Known[seat] = 0
		}
	case "song", "tute":
		view.Scored[seat] += whole(event, "points", 0)
		suit := word(event, "suit")
		view.Sung += suit
		if event["table"] == true {
			break
		}
		view.said[seat]++
		view.twenty[seat] = view.twenty[seat] || letter(suit) != view.Trump
		if suit == "" && kind == "song" {
			view.hiddenSong(seat)
		}
		view.shows(seat, list(event, "cards"))
	case "look":
		view.shows(of, list(event, "cards"))
	case "reveal":
		view.shows(seat, []any{event["card"]})
		if event["shown"] != nil {
			view.Shown = view.CardOf(word(event, "shown"))
		}
		view.Unseen &^= bit(view.Shown)
	case "last_ten":
		if event["taken"] != true {
			view.Scored[seat] -= view.Bonus
		}
	case "trump":
		view.Trump = letter(word(event, "suit"))
		if by >= 0 {
			view.Soloist = by
		}
		if lead := word(event, "lead"); lead != "" {
			view.Led = lead[0]
		}
		view.judgeTable()
	case "call":
		call := word(event, "call")
		view.Call[seat] = call
		if strings.HasPrefix(call, "bid") || (call == "play" && view.Soloist < 0) {
			view.Soloist = by
		}
		if view.joins && view.Soloist >= 0 {
			view.decide()
		}
	case "predict":
		view.Predicted[seat] = whole(event, "tricks", 0)
	case "score":
		view.carry(event)
	case "called":
		if view.Hand&bit(card) != 0 {
			view.Partner = view.Seat
		} else if !view.callsOwn {
			view.age[seat][card] = 0
		}
	case "partner":
		view.Partner = by
	case "takeover":
		mine := view.Hand
		if seat == view.Seat {
			mine = view.Known[of]
		} else if of == view.Seat {
			mine = 0
		}
		view.Known[seat] = 0
		if of == view.Seat {
			view.Known[seat] = view.Hand
		}
		view.Known[of], view.Hand = 0, mine
		view.Counts[seat], view.Counts[of] = view.Counts[of], view.Counts[seat]
		view.Soloist = by
		view.Out[of], view.Out[seat] = true, false
	}
}

func (view *View) beginDeal(event table) {
	seats := view.Seats
	view.Unseen, view.Hand = 1<<view.Size-1, 0
	view.Known, view.Barred, view.NotAll = make([]Cards, seats), make([]Cards, seats), make([][8]Cards, seats)
	view.Scored, view.Tricks, view.said, view.Predicted = make([]int, seats), make([]int, seats), make([]int, seats), make([]int, seats)
	view.twenty, view.Out, view.Call, view.Counts = make([]bool, seats), make([]bool, seats), make([]string, seats), make([]int, seats)
	view.age = make([][]int, seats)
	for seat := range view.age {
		view.age[seat] = make([]int, view.Size)
		for card := range view.age[seat] {
			view.age[seat][card] = never
		}
	}
	view.Songs, view.Sung = nil, ""
	for seat, count := range list(event, "counts") {
		view.Counts[seat] = int(count.(float64))
	}
	for _, seat := range list(event, "out") {
		view.Out[int(seat.(float64))] = true
	}
	for _, text := range list(event, "hand") {
		view.comes(view.Seat, view.CardOf(text.(string)))
	}
	if whole(event, "deal", 0) == 1 {
		clear(view.Totals)
	}
	view.carry(event)
	view.Trump = letter(word(event, "trump"))
	view.Stock = whole(event, "stock", 0)
	view.Shown = view.CardOf(word(event, "shown"))
	view.Unseen &^= bit(view.Shown)
	if holder := whole(event, "holder", -1); holder >= 0 && holder != view.Seat {
		view.Known[holder] |= bit(view.Shown)
	}
	view.Table, view.By, view.Played, view.Led = nil, nil, nil, 0
	// In a game without a stock the shown card lies on the table until the first lead.
	view.Best, view.Soloist, view.Partner, view.notice, view.Winner = -1, -1, -1, -1, -1
}

func (view *View) carry(event table) {
	for side, points := range list(event, "totals") {
		view.Totals[side] = int(points.(float64))
	}
}

// Record, in a game where seats join a soloist, who stays out once every seat has decided.
func (view *View) decide() {
	for seat, call := range view.Call {
		if !view.Out[seat] && (call == "" || (call == "pass" && !view.passEnds)) {
			return
		}
	}
	for seat, call := range view.Call {
		view.Out[seat] = call != "play" && call != "join"
	}
}

// Record that a card turned up that the seat was proved to lack: the seat has drawn it since.
func (view *View) uncover(seat int, card Card) {
	if view.Unseen&bit(card) == 0 {
		return
	}
	view.Unseen &^= bit(card)
	ages := view.age[seat]
	age := ages[card]
	for other := range ages {
		if age != never && ages[other] != never && ages[other] >= age && ages[other] > 0 {
			ages[other]--
		}
	}
}

func (view *View) held(seat int) *Cards {
	if seat == view.Seat {
		return &view.Hand
	}
	return &view.Known[seat]
}

// Put a card into a hand; -1 if it is hidden.
func (view *View) comes(seat int, card Card) {
	if card >= 0 {
		view.Unseen &^= bit(card)
		*view.held(seat) |= bit(card)
		return
	}
	view.Barred[seat] = 0
	for other, age := range view.age[seat] {
		if age != never {
			view.age[seat][other]++
		}
	}
}

func (view *View) goes(seat int, card Card) {
	view.uncover(seat, card)
	*view.held(seat) &^= bit(card)
	// The singer need not hold a pair any longer once a card of it is played; a pair of which another seat had a card was not sung.
	for number := range view.Songs {
		song := &view.Songs[number]
		for suit := range song.Pair {
			if song.Seat == seat {
				song.Pair[suit] &^= bit(card)
			} else if song.Pair[suit]&bit(card) != 0 {
				song.May[suit] = false
			}
		}
	}
}

func (view *View) shows(seat int, cards []any) {
	for _, text := range cards {
		card := view.CardOf(text.(string))
		view.uncover(seat, card)
		if seat != view.Seat {
			view.Known[seat] |= bit(card)
		}
	}
}

func (view *View) judgeTable() {
	view.Best = -1
	for place, card := range view.Table {
		if view.Best < 0 || view.Beats(card, view.Table[view.Best]) {
			view.Best = place
		}
	}
}

// The best card of a suit on the table, or -1.
func (view *View) bestOf(suit byte) Card {
	best := -1
	for _, card := range view.Table {
		if view.Suit(card) == suit && (best < 0 || card < best) {
			best = card
		}
	}
	return best
}

// The demands on a seat in this trick: on cards of the suit led, and on trumps.
func (view *View) demands(seat int) string {
	demands, situation := view.demandsEmpty, 0
	if view.open {
		demands = view.demandsOpen
	}
	if view.Led == view.Trump {
		situation = 4
	} else if view.bestOf(view.Trump) >= 0 {
		situation = 2
	}
	if view.Together(view.By[view.Best], seat) {
		situation++
	}
	return demands[2*situation : 2*situation+2]
}

// The class of a card under the duties of a seat: the seat must play a card of a lower class before one of a higher.
func (view *View) duty(seat int, card Card) int {
	suit, demand, place := view.Suit(card), byte(anyCard), 200
	if suit == view.Led {
		demand, place = view.demands(seat)[0], 0
	} else if suit == view.Trump {
		demand = view.demands(seat)[1]
	}
	// if no card can win, the cards of least value come first
	load, loads := 0, view.demandsEmpty
	if view.open {
		loads = view.demandsOpen
	}
	if loads[16] == '1' && view.noLoad && !view.Beats(card, view.Table[view.Best]) {
		load = view.Value[card]
	}
	if demand == all || (demand != anyCard && card < view.bestOf(suit)) {
		return load + place
	}
	if demand == higherOrAll {
		return load + place + 100
	}
	return load + 400
}

// Above returns the cards of a suit that beat one of them; all if it is -1.
func (view *View) Above(suit byte, best Card) Cards {
	var cards Cards
	for card := range view.Name {
		if view.Suit(card) == suit && (best < 0 || card < best) {
			cards |= bit(card)
		}
	}
	return cards
}

// Record which cards of the suit led and of trumps a seat lacks now.
func (view *View) bar(seat int, card Card) {
	demands := view.demands(seat)
	for place, suit := range []byte{view.Led, view.Trump} {
		demand, best := demands[place], view.bestOf(suit)
		if view.Suit(card) == suit {
			if demand >= higherOrAll && best >= 0 && card > best {
				view.Barred[seat] |= view.Above(suit, best)
			}
			return
		}
		if demand > higherOrAll {
			view.Barred[seat] |= view.Above(suit, best)
		} else if demand != anyCard {
			view.Barred[seat] |= view.Above(suit, -1)
		}
	}
}

// Record what a card proves about the hand that it comes from.
func (view *View) learn(seat int, card Card) {
	if !view.proves || view.Led == 0 {
		return
	}
	view.bar(seat, card)
	for _, other := range List(view.Unseen) {
		if view.duty(seat, other) < view.duty(seat, card) {
			view.age[seat][other] = 0
		}
	}
}

// OfRanks returns the cards of some ranks, in one suit or in all (0).
func (view *View) OfRanks(ranks string, suit byte) Cards {
	var cards Cards
	for card, text := range view.Name {
		if strings.IndexByte(ranks, text[0]) >= 0 && (suit == 0 || text[1] == suit) {
			cards |= bit(card)
		}
	}
	return cards
}

// Record, once nobody can sing any more before the next lead, that a seat that had to sing and did not held no pair.
func (view *View) beforeLead() {
	for seat := range view.Seats {
		if seat != view.Seat && len(view.Table) == 0 && view.Winner >= 0 && view.mustSing {
			view.unsung(seat)
		}
	}
}

// Games with this duty have no stock, so what was not sung cannot be drawn later.
func (view *View) unsung(seat int) {
	tricks, late := 0, false // late: for the forty
	for other := range view.Seats {
		if !view.Together(other, seat) {
			continue
		}
		tricks += view.Tricks[other]
		if view.twenty[other] && view.order != "any" && (other == seat || view.order == "forty_first_side") {
			late = true
		}
	}
	sings := seat == view.Winner
	if view.HandSongs == "winning_side" {
		sings = view.Together(seat, view.Winner)
	}
	if !sings || view.said[seat] >= view.mostSongs || (view.singFirst && tricks != 1) {
		return
	}
	for place, suit := range []byte("oceb") {
		if strings.IndexByte(view.Sung, suit) < 0 && !(suit == view.Trump && late) {
			view.NotAll[seat][place] = view.OfRanks(view.PairRanks, suit)
		}
	}
	if !view.tuteFirst || tricks == 1 {
		for place, rank := range view.tutes {
			view.NotAll[seat][4+place] = view.OfRanks(string(rank), 0)
		}
	}
}

func (view *View) hiddenSong(seat int) {
	song := Song{Seat: seat}
	for place, suit := range []byte("oceb") {
		pair := view.OfRanks(view.PairRanks, suit)
		song.Pair[place] = pair
		song.May[place] = pair&^(view.Unseen|view.Known[seat]) == 0 && suit != view.Trump && strings.IndexByte(view.Sung, suit) < 0
	}
	view.Songs = append(view.Songs, song)
}

// True if each song, from this one on, can have had a different suit.
func (view *View) sungFrom(hands []Cards, number, used int) bool {
	if number == len(view.Songs) {
		return true
	}
	song := view.Songs[number]
	for suit := range 4 {
		if song.May[suit] && used>>suit&1 == 0 && song.Pair[suit]&^hands[song.Seat] == 0 && view.sungFrom(hands, number+1, used|1<<suit) {
			return true
		}
	}
	return false
}

// True if hands agree with the facts about more than one card.
func (view *View) agrees(hands []Cards) bool {
	for seat, hand := range hands {
		if seat == view.Seat {
			continue
		}
		for _, cards := range view.NotAll[seat] {
			if cards != 0 && cards&^hand == 0 {
				return false
			}
		}
		// each card that the seat was proved to lack needs a draw of its own since the proof
		var ages []int
		for _, card := range List(hand & view.Unseen) {
			ages = append(ages, view.age[seat][card])
		}
		slices.Sort(ages)
		for drawn, age := range ages {
			if age <= drawn {
				return false
			}
		}
	}
	return view.sungFrom(hands, 0, 0)
}

// Chance returns a random number, at least 0 and below 1. It advances the seed (mulberry32, as in the other kits).
func (view *View) Chance() float64 {
	view.Seed += 0x6D2B79F5
	mixed := (view.Seed ^ view.Seed>>15) * (view.Seed | 1)
	mixed ^= mixed + (mixed^mixed>>7)*(mixed|61)
	return float64(mixed^mixed>>14) / 4294967296
}

// Shuffle shuffles cards in place.
func (view *View) Shuffle(cards []Card) {
	for left := len(cards); left > 1; left-- {
		place := int(view.Chance() * float64(left))
		cards[left-1], cards[place] = cards[place], cards[left-1]
	}
}

// The cards that some hand cannot hold, to be placed one after the other. Hands that may hold every card count as part of the rest.
type placing struct {
	view            *View
	bound           []Card
	unseen          int
	who, need, room []int
	oneHand         bool // true if one hand is hidden; then cards drawn since a proof are counted, too
	counted         map[int]float64
}

// True if a card may go to a hand.
func (places *placing) fits(place, hand int) bool {
	age, room := places.view.age[places.who[hand]][places.bound[place]], places.room[hand]
	if places.oneHand {
		return room > 0 && places.need[hand]-room < age
	}
	return room > 0 && age > 0
}

// The number of ways to place the cards from `place` on into the room of the hands; free cards are counted at the end.
func (places *placing) ways(place int) float64 {
	left, key := places.unseen-place, place
	rest := left
	for hand, room := range places.room {
		rest -= room
		key = key*(places.need[hand]+1) + room
	}
	if rest < 0 {
		return 0
	}
	if ways, ok := places.counted[key]; ok {
		return ways
	}
	ways := 0.0
	if place == len(places.bound) {
		ways = 1
		for _, room := range places.room {
			for card := 1; card <= room; card++ {
				ways = ways * float64(left) / float64(card)
				left--
			}
		}
	} else {
		if rest > 0 {
			ways = places.ways(place + 1)
		}
		for hand := range places.room {
			if places.fits(place, hand) {
				ways += places.within(place, hand)
			}
		}
	}
	places.counted[key] = ways
	return ways
}

func (places *placing) within(place, hand int) float64 {
	places.room[hand]--
	ways := places.ways(place + 1)
	places.room[hand]++
	return ways
}

// Deal returns a deal of the hidden cards that agrees with all facts; nil if none does, or if none was found in many draws. Every placement has the
// same chance, except for the rounding of floats, because the placements left after each choice are counted. Hand sizes, known cards and lacking
// cards never cause a rejection; with one hidden hand, cards drawn since a proof do not either. A deal that contradicts a fact about several cards
// is rejected.
func (view *View) Deal() *Deal {
	need, hidden := make([]int, view.Seats), 0
	for seat := range need {
		if seat != view.Seat {
			need[seat] = view.Counts[seat] - Count(view.Known[seat])
		}
		if need[seat] < 0 {
			return nil
		}
		if need[seat] > 0 {
			hidden++
		}
	}
	places := placing{view: view, unseen: Count(view.Unseen), oneHand: hidden == 1, counted: map[int]float64{}}
	var bound Cards
	for seat := range need {
		var lacking Cards
		for _, card := range List(view.Unseen) {
			if age := view.age[seat][card]; age == 0 || (places.oneHand && age < need[seat]) {
				lacking |= bit(card)
			}
		}
		if need[seat] > 0 && lacking != 0 {
			bound |= lacking
			places.who = append(places.who, seat)
			places.need = append(places.need, need[seat])
		}
	}
	places.bound = List(bound)
	if places.oneHand && len(places.who) > 0 {
		// The last proof comes first, so that all cards taken so far count against the next one.
		ages := view.age[places.who[0]]
		slices.SortStableFunc(places.bound, func(a, b Card) int { return ages[a] - ages[b] })
	}
	places.room = slices.Clone(places.need)
	if places.ways(0) == 0 {
		return nil
	}
	for range tries {
		if deal := view.place(&places, List(view.Unseen&^bound), slices.Clone(need)); view.agrees(deal.Hands) {
			return deal
		}
	}
	return nil
}

// Put the unseen cards into hands: the bound ones by their counts, the others at random.
func (view *View) place(places *placing, loose []Card, need []int) *Deal {
	hands := slices.Clone(view.Known)
	hands[view.Seat] = view.Hand
	copy(places.room, places.need)
	var pool []Card
	pop := func(cards *[]Card) Card {
		card := (*cards)[len(*cards)-1]
		*cards = (*cards)[:len(*cards)-1]
		return card
	}
	for place, card := range places.bound {
		mark, goesTo := view.Chance()*places.ways(place), -1
		for hand := 0; hand < len(places.who) && mark >= 0; hand++ {
			if !places.fits(place, hand) {
				continue
			}
			if ways := places.within(place, hand); ways > 0 {
				if mark -= ways; mark < 0 {
					goesTo = hand
				}
			}
		}
		if goesTo < 0 {
			pool = append(pool, card)
		} else {
			places.room[goesTo]--
			hands[places.who[goesTo]] |= bit(card)
		}
	}
	view.Shuffle(loose)
	for hand, seat := range places.who {
		need[seat] = 0
		for range places.room[hand] {
			hands[seat] |= bit(pop(&loose))
		}
	}
	slices.Reverse(loose)
	pool = append(pool, loose...)
	view.Shuffle(pool)
	for seat := range need {
		for ; need[seat] > 0 && len(pool) > 0; need[seat]-- {
			hands[seat] |= bit(pop(&pool))
		}
	}
	return &Deal{hands, pool}
}

// --- the dialogue

// Log writes to the author's log.
func Log(things ...any) { fmt.Fprintln(os.Stderr, things...) }

// Run talks to the referee until it closes the connection; choose returns one of view.Legal.
func Run(name string, choose func(view *View) string) {
	var view *View
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		message := decode(lines.Text())
		var answer any
		switch message["type"] {
		case "hello":
			view = newView(message)
			answer = struct {
				Type string `json:"type"`
				Name string `json:"name"`
			}{"ready", name}
		case "act":
			for _, event := range list(message, "events") {
				view.See(event.(table))
			}
			view.Legal = nil
			leads := false
			for _, action := range list(message, "legal") {
				view.Legal = append(view.Legal, action.(string))
				leads = leads || view.Plays(action.(string)) >= 0
			}
			if leads {
				view.beforeLead()
			}
			answer = struct {
				ID any    `json:"id"`
				Do string `json:"do"`
			}{message["id"], choose(view)}
		default:
			continue
		}
		line, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		if _, err = os.Stdout.Write(append(line, '\n')); err != nil {
			return // the referee is gone
		}
	}
}
