// Table sense for bots in Go: announcements, auctions and rough probabilities, for every game of the rules book.
//
// It gives the advice of tute_sense for Python, to the same numbers. All of it follows rules of thumb, meant to be beaten: use it for the parts
// that your bot does not care about. Announce answers every question that is not about a card.
package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// --- actions

// The verb and the object of an action; codillo's call "play" has the verb "enter".
func parse(action string) (string, string) {
	if action == "play" {
		return "enter", ""
	}
	verb, object, _ := strings.Cut(action, " ")
	return verb, object
}

// The legal action with a verb whose object is liked most, the first of equals; "" if there is none.
func liked(view *View, verb string, liking func(object string) float64) string {
	best, most := "", math.Inf(-1)
	for _, action := range view.Legal {
		here, object := parse(action)
		if here == verb && liking(object) > most {
			best, most = action, liking(object)
		}
	}
	return best
}

func first(view *View, verb string) string {
	return liked(view, verb, func(string) float64 { return 0 })
}

func toNumber(text string) float64 {
	number, _ := strconv.Atoi(text)
	return float64(number)
}

// --- the value of a hand

// The worth of a card in a hand.
func promised(rank byte, isTrump bool) int {
	place := strings.IndexByte("13RCS", rank)
	if place < 0 {
		place = 5
	}
	if isTrump {
		return []int{16, 14, 9, 8, 7, 5}[place]
	}
	return []int{13, 7, 3, 2, 1, 0}[place]
}

// The suits of which your hand holds a pair that can still be sung.
func pairs(view *View) []byte {
	var suits []byte
	for _, suit := range []byte("oceb") {
		pair := view.OfRanks(view.PairRanks, suit)
		if view.HandSongs != "none" && strings.IndexByte(view.Sung, suit) < 0 && pair&^view.Hand == 0 {
			suits = append(suits, suit)
		}
	}
	return suits
}

func songValue(view *View, suit, trump byte) int {
	if suit == trump {
		return view.SongTrump
	}
	return view.SongOther
}

// Promise returns the points that your hand promises with a suit as trump, songs included. An average hand of three has 43.
func Promise(view *View, trump byte) float64 {
	cards, songs := 0, 0.0
	for _, card := range List(view.Hand) {
		cards += promised(view.Name[card][0], view.Suit(card) == trump)
	}
	for _, suit := range pairs(view) {
		songs += float64(songValue(view, suit, trump)) * 0.8
	}
	return (float64(cards) + songs) * 130 / 152
}

func bestPromise(view *View) float64 {
	best := 0.0
	for _, suit := range []byte("oceb") {
		best = max(best, Promise(view, suit))
	}
	return best
}

func power(base float64, times int) float64 {
	product := 1.0
	for range times {
		product *= base
	}
	return product
}

// LikelyTricks returns the tricks that your hand can expect, by the probability that nobody holds anything better.
func LikelyTricks(view *View) float64 {
	others, size := -1, max(1, Count(view.Hand))
	for _, isOut := range view.Out {
		if !isOut {
			others++
		}
	}
	others = max(1, others)
	inPlay := min(1, float64(others*size)/float64(max(1, view.Size-size))) // the probability that a given card is in play at all
	expected := 0.0
	for _, card := range List(view.Hand) {
		suit, chance := view.Suit(card), 0.0
		if higher := Count(view.Unseen & view.Above(suit, card)); higher < 4 {
			chance = power(1-inPlay, higher)
		}
		if view.Trump != 0 && suit != view.Trump {
			length := float64(Count(view.Hand & view.Above(suit, -1)))
			chance *= max(0.3, 0.9-0.12*length*float64(others)/2)
		} else if view.Trump != 0 && size > 2 {
			chance = max(chance, 0.35*inPlay)
		} else if view.Trump != 0 {
			chance = max(chance, 0.2)
		}
		expected += chance
	}
	return expected
}

// TricksInSight returns the tricks that your hand can expect in bato, with poor cards exchanged before play (a new card is worth about 0.2).
func TricksInSight(view *View) float64 {
	expected := 0.0
	for _, card := range List(view.Hand) {
		higher := Count(view.Unseen & view.Above(view.Suit(card), card))
		switch {
		case view.Suit(card) == view.Trump:
			expected += max(0.3, 0.95-0.12*float64(higher))
		case higher == 0:
			expected += 0.6
		case higher == 1:
			expected += 0.35
		default:
			expected += 0.2
		}
	}
	return expected
}

// --- the goal

// The cards in other hands or the stock.
func hiddenCards(view *View) Cards {
	cards := view.Unseen
	for _, known := range view.Known {
		cards |= known
	}
	return cards
}

// StrengthRatio returns the strength of your hand relative to an average hand of the cards that you cannot see. Trumps count double.
func StrengthRatio(view *View) float64 {
	mean := func(cards Cards) float64 {
		sum := 0.0
		for _, card := range List(cards) {
			worth := float64(view.Value[card]) + float64(view.Strength[card])/2
			if view.Suit(card) == view.Trump {
				worth *= 2
			}
			sum += worth
		}
		return sum / float64(max(1, Count(cards)))
	}
	average := mean(hiddenCards(view))
	if view.Hand == 0 || average == 0 {
		return 1
	}
	return mean(view.Hand) / average
}

// Aim returns 1 to take points, -1 to avoid them, by the result of the game, the hand and what has been won so far.
func Aim(view *View) int {
	if takes(view) {
		return 1
	}
	return -1
}

func takes(view *View) bool {
	own, size := view.Scored[view.Seat], Count(view.Hand)
	switch view.Result {
	case "exact_prediction":
		return view.Tricks[view.Seat] < view.Predicted[view.Seat]
	case "most_points_loses_unless_101":
		return float64(own)+25*StrengthRatio(view)*float64(size)/4 >= 101
	case "cabron_loses":
		if view.Tricks[view.Seat] == 0 {
			return true // A seat without a trick loses.
		}
		if own > 60 {
			return false // A seat with more than a hundred loses, too.
		}
	case "middle_loses", "middle_of_three_loses":
	default:
		return true
	}
	bestOther, tricks := 0, 0
	for seat, points := range view.Scored {
		tricks += view.Tricks[seat]
		if seat != view.Seat && !view.Out[seat] {
			bestOther = max(bestOther, points)
		}
	}
	still := float64(size) / float64(max(1, size+tricks))
	return float64(own-bestOther)/40+(StrengthRatio(view)-1)*still > 0.25
}

// --- announcements

// Codillo: with an ordinary hand, because the called card brings a partner. Bato: with two tricks in sight; with loss marks, tricks earn nothing.
func enters(view *View) bool {
	if view.Trump != 0 {
		return view.Settlement == "chips" && TricksInSight(view) >= 1.6
	}
	return bestPromise(view) >= 35
}

// In bato one trick is enough, but each seat that has joined takes some of the four tricks.
func joins(view *View) bool {
	joined := 0.0
	for _, call := range view.Call {
		if call == "join" {
			joined++
		}
	}
	return view.Settlement == "chips" && TricksInSight(view) >= 0.8+0.25*joined
}

// Announce returns the announcement to make now, or "" when it is time to play a card.
func Announce(view *View) string {
	side := view.Side[view.Seat]
	either := func(action string, isGood bool, other string) string {
		if other = first(view, other); !isGood && other != "" {
			return other
		}
		return action
	}
	if claim := first(view, "claim"); claim != "" && view.Target > 0 && view.Totals[side]+view.Points(side) >= view.Target {
		return claim
	}
	for _, verb := range []string{"tute", "exchange"} {
		if action := first(view, verb); action != "" {
			return action
		}
	}
	likeSong := func(suit string) float64 { return float64(strings.Count(suit, string(view.Trump))) }
	if song := liked(view, "sing", likeSong); song != "" && takes(view) {
		return song
	}
	if lowest := liked(view, "bid", func(points string) float64 { return -toNumber(points) }); lowest != "" {
		_, points := parse(lowest)
		return either(lowest, bestPromise(view) >= toNumber(points), "pass")
	}
	if action := first(view, "enter"); action != "" {
		return either(action, enters(view), "pass")
	}
	if action := first(view, "join"); action != "" {
		return either(action, joins(view), "out")
	}
	likings := []struct {
		verb   string
		liking func(object string) float64
	}{
		{"trump", func(suit string) float64 { return Promise(view, suit[0]) }},
		// The strongest card that you lack: trumps before plain suits, long plain suits before short ones.
		{"call", func(text string) float64 {
			worth := view.Strength[view.CardOf(text)]
			if text[1] == view.Trump {
				worth += 20
			}
			return float64(100*worth + Count(view.Hand&view.Above(text[1], -1)))
		}},
		{"predict", func(tricks string) float64 { return -math.Abs(toNumber(tricks) - LikelyTricks(view)) }},
		// Keep trumps and aces and exchange the rest.
		{"discard", func(texts string) float64 {
			sum := 0.0
			for _, text := range strings.Fields(texts) {
				if text[1] != view.Trump && view.Strength[view.CardOf(text)] < 8 {
					sum++
				} else {
					sum -= 3
				}
			}
			return sum
		}},
	}
	for _, like := range likings {
		if action := liked(view, like.verb, like.liking); action != "" {
			return action
		}
	}
	if action := first(view, "take"); action != "" {
		return either(action, takes(view) || view.Scored[view.Seat] >= 101, "decline")
	}
	if first(view, "play") != "" {
		return ""
	}
	return either(view.Legal[0], false, "pass")
}

// --- chances in the trick on the table

// TrickPoints returns the card points on the table.
func TrickPoints(view *View) int {
	sum := 0
	for _, card := range view.Table {
		sum += view.Value[card]
	}
	return sum
}

// ToFollow returns the seats that play to this trick after you, in order.
func ToFollow(view *View) []int {
	var seats []int
	for step := 1; step < view.Seats; step++ {
		if seat := (view.Seat + step) % view.Seats; !view.Out[seat] && !slices.Contains(view.By, seat) {
			seats = append(seats, seat)
		}
	}
	return seats
}

func chanceToBeat(view *View, seat int, card Card, led byte) float64 {
	known := view.Known[seat]
	reach := min(1, float64(max(0, view.Counts[seat]-Count(known)))/float64(max(1, Count(view.Unseen)))) // for one unseen card
	has := func(cards Cards) float64 {
		cards &= view.Unseen&^view.Barred[seat] | known
		if cards&known != 0 {
			return 1
		}
		return 1 - power(1-reach, Count(cards))
	}
	suit := view.Suit(card)
	higher, follows, trumps := has(view.Above(suit, card)), has(view.Above(led, -1)), has(view.Above(view.Trump, -1))
	if suit == view.Trump && (led == view.Trump || view.Stock > 0) {
		return higher
	}
	if suit == view.Trump {
		return higher * (1 - follows)
	}
	if view.Stock > 0 && view.StockDuty != "strict" {
		return max(higher, trumps*min(1, float64(TrickPoints(view)+view.Value[card])/16))
	}
	ruff := (1 - follows) * trumps
	if suit == led {
		return ruff + higher*(1-ruff)
	}
	return ruff
}

// ChanceToHold returns a rough probability that a card, winning for a seat once played, is not beaten by the other side in this trick.
func ChanceToHold(view *View, seat int, card Card) float64 {
	chance, led := 1.0, view.Led
	if led == 0 {
		led = view.Suit(card)
	}
	for _, other := range ToFollow(view) {
		if !view.Together(other, seat) {
			chance *= 1 - chanceToBeat(view, other, card, led)
		}
	}
	return chance
}

// SongsOnTable returns the points of the pairs that the trick would contain with a card, if the rules let its winner score them.
func SongsOnTable(view *View, card Card) int {
	laid, sum := bit(card), 0
	for _, other := range view.Table {
		laid |= bit(other)
	}
	for _, suit := range []byte("oceb") {
		if view.TableSongs == "none" || view.OfRanks(view.PairRanks, suit)&^laid != 0 {
			continue
		}
		if view.TableSongs != "forced_first_40" {
			sum += songValue(view, suit, view.Trump)
		} else if sum = 20; view.Trump == 0 {
			sum = 40
		}
	}
	return sum
}

// IsMaster returns true if no card of its suit that may be in another hand or in the stock is stronger.
func IsMaster(view *View, card Card) bool {
	return hiddenCards(view)&view.Above(view.Suit(card), card) == 0
}

// LooseCards returns the cards that you may play, without those that would break a pair still to be sung, unless no others are left.
func LooseCards(view *View) []Card {
	var cards, loose []Card
	var paired Cards
	for _, suit := range pairs(view) {
		paired |= view.OfRanks(view.PairRanks, suit)
	}
	for _, action := range view.Legal {
		if card := view.Plays(action); card >= 0 {
			cards = append(cards, card)
			if paired&bit(card) == 0 {
				loose = append(loose, card)
			}
		}
	}
	if loose == nil {
		return cards
	}
	return loose
}
