// The house bot `greedy` in Go: it announces whatever pays, and plays the card with the best trick, less what the card is worth later.
//
// tute.go beside it has the dialogue, the view and deals of the hidden cards; sense.go has announcements and rough chances. The league builds it;
// tute bot build does so at home.
package main

import "math"

const (
	coming = 3.0  // points that each seat still to play adds to a trick, on average
	trick  = 10.0 // worth of a trick in games that count tricks, not points
)

// The points that the trick is expected to bring our side (minus: theirs) if we play the card.
func trickValue(view *View, card Card) float64 {
	points := TrickPoints(view) + view.Value[card] + SongsOnTable(view, card)
	worth := float64(points) + coming*float64(len(ToFollow(view)))
	if view.Result == "trick_commitments" || view.Result == "exact_prediction" {
		worth = trick
	}
	if Count(view.Hand) == 1 {
		worth += float64(view.Bonus)
	}
	if view.Best < 0 || view.Beats(card, view.Table[view.Best]) {
		return worth * (2*ChanceToHold(view, view.Seat, card) - 1)
	}
	winner, winning := view.By[view.Best], view.Table[view.Best]
	if view.Together(winner, view.Seat) {
		return worth * (2*ChanceToHold(view, winner, winning) - 1)
	}
	for seat, isOut := range view.Out {
		if seat != view.Seat && !isOut && view.Together(seat, view.Seat) {
			return worth * (1 - 2*ChanceToHold(view, winner, winning))
		}
	}
	return -worth
}

// The later worth of the card, in points.
func price(view *View, card Card) float64 {
	strength := float64(view.Strength[card])
	if view.Suit(card) == view.Trump {
		return 3 + 1.2*strength
	}
	if IsMaster(view, card) && view.Value[card] > 0 {
		return 4
	}
	return 0.5 * strength
}

func choose(view *View) string {
	if action := Announce(view); action != "" {
		return action
	}
	way, best, most := float64(Aim(view)), -1, math.Inf(-1)
	for _, card := range LooseCards(view) {
		if gain := way * (trickValue(view, card) - price(view, card)); gain > most {
			best, most = card, gain
		}
	}
	return "play " + view.Name[best]
}

func main() { Run("kit go", choose) }
