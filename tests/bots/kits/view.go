// Answers with the first legal action, and writes to standard error what the library of the kit in Go knows, a JSON object a request.
// Its argument is the number of deals. It is built beside a copy of the library.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func letters(suit byte) string {
	if suit == 0 {
		return ""
	}
	return string(suit)
}

func main() {
	deals := 4
	if len(os.Args) > 1 {
		deals, _ = strconv.Atoi(os.Args[1])
	}
	Run("view", func(view *View) string {
		texts := func(cards []Card) []string {
			names := []string{}
			for _, card := range cards {
				if card >= 0 {
					names = append(names, view.Name[card])
				}
			}
			return names
		}
		sets := func(sets []Cards) []string {
			lines := []string{}
			for _, cards := range sets {
				lines = append(lines, strings.Join(texts(List(cards)), " "))
			}
			return lines
		}
		lacks, numbers := make([]Cards, view.Seats), []int{view.Stock, view.Best}
		notAll := make([][]string, view.Seats)
		for seat := range view.Seats {
			for _, card := range List(view.Unseen) {
				if view.Lacks(seat, card) {
					lacks[seat] |= bit(card)
				}
			}
			var proved []Cards
			for _, cards := range view.NotAll[seat] {
				if cards != 0 {
					proved = append(proved, cards)
				}
			}
			notAll[seat] = sets(proved)
			numbers = append(numbers, view.Counts[seat], view.Points(view.Side[seat]))
		}
		plays := []Card{}
		for _, action := range view.Legal {
			plays = append(plays, view.Plays(action))
		}
		facts := table{
			"led": letters(view.Led), "trump": letters(view.Trump), "table": texts(view.Table), "played": texts(view.Played),
			"shown": texts([]Card{view.Shown}), "own": sets([]Cards{view.Hand, view.Unseen}), "known": sets(view.Known), "lacks": sets(lacks),
			"not_all": notAll, "plays": texts(plays), "numbers": numbers,
		}
		for number := range deals {
			if deal := view.Deal(); deal != nil {
				facts[fmt.Sprintf("deal%d", number)], facts[fmt.Sprintf("rest%d", number)] = sets(deal.Hands), texts(deal.Rest)
			} else {
				facts["none"] = 1
			}
		}
		line, _ := json.Marshal(facts)
		Log(string(line))
		return view.Legal[0]
	})
}
