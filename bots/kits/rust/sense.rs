//! Table sense for bots in Rust: announcements, auctions and rough probabilities, for every game of the rules book.
//!
//! It gives the advice of `tute_sense` for Python, to the same numbers. All of it follows rules of thumb, meant to be beaten: use it for the parts
//! that your bot does not care about. `announce` answers every question that is not about a card.
#![allow(dead_code)] // a bot need not use all of it

use crate::tute::{Card, Cards, View, bit};

// --- actions

/// The verb of an action; codillo's call "play" has the verb "enter".
fn verb_of(action: &str) -> &str {
    if action == "play" { "enter" } else { action.split(' ').next().unwrap_or("") }
}

fn object(action: &str) -> &str {
    action.split_once(' ').map_or("", |(_, object)| object)
}

/// The legal action with a verb whose object is liked most, the first of equals.
fn liked<'a>(view: &'a View, verb: &str, liking: impl Fn(&str) -> f64) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for action in view.legal.iter().filter(|action| verb_of(action) == verb) {
        let here = liking(object(action));
        if best.map_or(true, |(most, _)| here > most) {
            best = Some((here, action));
        }
    }
    best.map(|(_, action)| action)
}

// --- the value of a hand

/// The worth of a card in a hand.
fn promised(rank: char, is_trump: bool) -> i32 {
    let worth = if is_trump { [16, 14, 9, 8, 7, 5] } else { [13, 7, 3, 2, 1, 0] };
    worth["13RCS".find(rank).unwrap_or(5)]
}

fn rank(view: &View, card: Card) -> char {
    view.name[card as usize].as_bytes()[0] as char
}

fn count(cards: Cards) -> i32 {
    cards.count_ones() as i32
}

/// The suits of which your hand holds a pair that can still be sung.
fn pairs(view: &View) -> impl Iterator<Item = char> + '_ {
    let holds = move |suit: &char| view.singers != "none" && !view.sung.contains(*suit) && view.of_ranks(&view.pair, *suit) & !view.hand == 0;
    "oceb".chars().filter(holds)
}

fn song_value(view: &View, suit: char, trump: char) -> i32 {
    if suit == trump { view.song_trump } else { view.song_other }
}

/// The points that your hand promises with a suit as trump, songs included. An average hand of three has 43.
pub fn promise(view: &View, trump: char) -> f64 {
    let cards: i32 = view.cards(view.hand).map(|card| promised(rank(view, card), view.suit(card) == trump)).sum();
    let songs: f64 = pairs(view).map(|suit| f64::from(song_value(view, suit, trump)) * 0.8).sum();
    (f64::from(cards) + songs) * 130.0 / 152.0
}

fn best_promise(view: &View) -> f64 {
    "oceb".chars().map(|suit| promise(view, suit)).fold(0.0, f64::max)
}

fn power(base: f64, times: i32) -> f64 {
    (0..times).fold(1.0, |product, _| product * base)
}

/// The tricks that your hand can expect, by the probability that nobody holds anything better.
pub fn likely_tricks(view: &View) -> f64 {
    let others = (view.out.iter().filter(|&&out| !out).count() as i32 - 1).max(1);
    let size = count(view.hand).max(1);
    let in_play = (f64::from(others * size) / f64::from((view.size as i32 - size).max(1))).min(1.0); // for a given card
    let mut expected = 0.0;
    for card in view.cards(view.hand) {
        let suit = view.suit(card);
        let higher = count(view.unseen & view.above(suit, card));
        let mut chance = if higher < 4 { power(1.0 - in_play, higher) } else { 0.0 };
        if view.trump != ' ' && suit != view.trump {
            let length = count(view.hand & view.above(suit, -1));
            chance *= (0.9 - 0.12 * f64::from(length) * f64::from(others) / 2.0).max(0.3);
        } else if view.trump != ' ' {
            chance = chance.max(if size > 2 { 0.35 * in_play } else { 0.2 });
        }
        expected += chance;
    }
    expected
}

/// The tricks that your hand can expect in bato, with poor cards exchanged before play (a new card is worth about 0.2).
pub fn tricks_in_sight(view: &View) -> f64 {
    let mut expected = 0.0;
    for card in view.cards(view.hand) {
        let higher = count(view.unseen & view.above(view.suit(card), card));
        expected += match higher {
            _ if view.suit(card) == view.trump => (0.95 - 0.12 * f64::from(higher)).max(0.3),
            0 => 0.6,
            1 => 0.35,
            _ => 0.2,
        };
    }
    expected
}

// --- the goal

/// The cards in other hands or the stock.
fn hidden_cards(view: &View) -> Cards {
    view.known.iter().fold(view.unseen, |all, known| all | known)
}

/// The strength of your hand relative to an average hand of the cards that you cannot see. Trumps count double.
pub fn strength_ratio(view: &View) -> f64 {
    let worth = |card: Card| {
        let (value, strength) = (view.value[card as usize], view.strength[card as usize]);
        let weight = if view.suit(card) == view.trump { 2.0 } else { 1.0 };
        weight * (f64::from(value) + f64::from(strength) / 2.0)
    };
    let mean = |cards: Cards| view.cards(cards).map(worth).sum::<f64>() / f64::from(count(cards).max(1));
    let average = mean(hidden_cards(view));
    if view.hand == 0 || average == 0.0 { 1.0 } else { mean(view.hand) / average }
}

/// 1 to take points, -1 to avoid them, by the result of the game, the hand and what has been won so far.
pub fn aim(view: &View) -> i32 {
    let own = view.scored[view.seat];
    let size = count(view.hand);
    let takes = match view.result.as_str() {
        "exact_prediction" => view.tricks[view.seat] < view.predicted[view.seat],
        "most_points_loses_unless_101" => f64::from(own) + 25.0 * strength_ratio(view) * f64::from(size) / 4.0 >= 101.0,
        "cabron_loses" if view.tricks[view.seat] == 0 => true, // a seat without a trick loses
        "cabron_loses" if own > 60 => false,                   // a seat with more than a hundred loses, too
        "middle_loses" | "middle_of_three_loses" | "cabron_loses" => {
            let others = (0..view.seats).filter(|&seat| seat != view.seat && !view.out[seat]);
            let best_other = others.map(|seat| view.scored[seat]).max().unwrap_or(0);
            let still = f64::from(size) / f64::from((size + view.tricks.iter().sum::<i32>()).max(1));
            f64::from(own - best_other) / 40.0 + (strength_ratio(view) - 1.0) * still > 0.25
        }
        _ => true,
    };
    if takes { 1 } else { -1 }
}

// --- announcements

/// Codillo: with an ordinary hand, because the called card brings a partner. Bato: with two tricks in sight; with loss marks, tricks earn nothing.
fn enters(view: &View) -> bool {
    if view.trump == ' ' { best_promise(view) >= 35.0 } else { view.settlement == "chips" && tricks_in_sight(view) >= 1.6 }
}

/// In bato one trick is enough, but each seat that has joined takes some of the four tricks.
fn joins(view: &View) -> bool {
    let joined = view.call.iter().filter(|call| *call == "join").count();
    view.settlement == "chips" && tricks_in_sight(view) >= 0.8 + 0.25 * joined as f64
}

/// The strongest card that you lack: trumps before plain suits, long plain suits before short ones.
fn worth_of_call(view: &View, text: &str) -> f64 {
    let card = view.card_of(text);
    let suit = view.suit(card);
    let worth = view.strength[card as usize] + if suit == view.trump { 20 } else { 0 };
    f64::from(100 * worth + count(view.hand & view.above(suit, -1)))
}

/// Keep trumps and aces and exchange the rest.
fn worth_of_discard(view: &View, texts: &str) -> f64 {
    let cards = texts.split_whitespace().map(|text| view.card_of(text));
    cards.map(|card| if view.suit(card) != view.trump && view.strength[card as usize] < 8 { 1.0 } else { -3.0 }).sum()
}

/// The announcement to make now, or None when it is time to play a card.
pub fn announce(view: &View) -> Option<&str> {
    let first = |verb: &str| liked(view, verb, |_| 0.0);
    let side = view.side[view.seat];
    let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    if view.target > 0 && view.totals[side] + view.points(side) >= view.target && first("claim").is_some() {
        return first("claim");
    }
    if let Some(action) = first("tute").or_else(|| first("exchange")) {
        return Some(action);
    }
    if let Some(song) = liked(view, "sing", |suit| if suit.starts_with(view.trump) { 1.0 } else { 0.0 }) {
        if aim(view) > 0 {
            return Some(song);
        }
    }
    if let Some(lowest) = liked(view, "bid", |points| -number(points)) {
        return first("pass").filter(|_| best_promise(view) < number(object(lowest))).or(Some(lowest));
    }
    if let Some(action) = first("enter") {
        return first("pass").filter(|_| !enters(view)).or(Some(action));
    }
    if let Some(action) = first("join") {
        return first("out").filter(|_| !joins(view)).or(Some(action));
    }
    let answer = liked(view, "trump", |suit| promise(view, suit.chars().next().unwrap_or(' ')))
        .or_else(|| liked(view, "call", |card| worth_of_call(view, card)))
        .or_else(|| liked(view, "predict", |tricks| -(number(tricks) - likely_tricks(view)).abs()))
        .or_else(|| liked(view, "discard", |cards| worth_of_discard(view, cards)));
    if answer.is_some() {
        return answer;
    }
    if let Some(action) = first("take") {
        let takes = aim(view) > 0 || view.scored[view.seat] >= 101;
        return first("decline").filter(|_| !takes).or(Some(action));
    }
    if first("play").is_some() { None } else { first("pass").or(Some(&view.legal[0])) }
}

// --- chances in the trick on the table

pub fn trick_points(view: &View) -> i32 {
    view.table.iter().map(|&card| view.value[card as usize]).sum()
}

/// The seats that play to this trick after you, in order.
pub fn to_follow(view: &View) -> impl Iterator<Item = usize> + '_ {
    let order = (1..view.seats).map(move |step| (view.seat + step) % view.seats);
    order.filter(move |seat| !view.out[*seat] && !view.by.contains(seat))
}

fn chance_to_beat(view: &View, seat: usize, card: Card, led: char) -> f64 {
    let known = view.known[seat];
    let reach = f64::from((view.counts[seat] - count(known)).max(0)) / f64::from(count(view.unseen).max(1)); // for one unseen card
    let may = (view.unseen & !view.barred[seat]) | known;
    let has = |cards: Cards| if cards & known == 0 { 1.0 - power(1.0 - reach.min(1.0), count(cards)) } else { 1.0 };
    let suit = view.suit(card);
    let higher = has(may & view.above(suit, card));
    let follows = has(may & view.above(led, -1));
    let trumps = has(may & view.above(view.trump, -1));
    if suit == view.trump {
        return if led == view.trump || view.stock > 0 { higher } else { higher * (1.0 - follows) };
    }
    if view.stock > 0 && view.stock_duty != "strict" {
        let eager = (f64::from(trick_points(view) + view.value[card as usize]) / 16.0).min(1.0);
        return higher.max(trumps * eager);
    }
    let ruff = (1.0 - follows) * trumps;
    ruff + if suit == led { higher * (1.0 - ruff) } else { 0.0 }
}

/// A rough probability that a card, winning for a seat once played, is not beaten by the other side in this trick.
pub fn chance_to_hold(view: &View, seat: usize, card: Card) -> f64 {
    let led = if view.led == ' ' { view.suit(card) } else { view.led };
    let rivals = to_follow(view).filter(|&other| !view.together(other, seat));
    rivals.fold(1.0, |chance, other| chance * (1.0 - chance_to_beat(view, other, card, led)))
}

/// The points of the pairs that the trick would contain with a card, if the rules let its winner score them.
pub fn songs_on_table(view: &View, card: Card) -> i32 {
    let laid = view.table.iter().fold(bit(card), |laid, &other| laid | bit(other));
    let mut suits = "oceb".chars().filter(|&suit| view.of_ranks(&view.pair, suit) & !laid == 0);
    match view.table_songs.as_str() {
        "none" => 0,
        "forced_first_40" if suits.next().is_none() => 0,
        "forced_first_40" => if view.trump == ' ' { 40 } else { 20 },
        _ => suits.map(|suit| song_value(view, suit, view.trump)).sum(),
    }
}

/// True if no card of its suit that may be in another hand or in the stock is stronger.
pub fn is_master(view: &View, card: Card) -> bool {
    hidden_cards(view) & view.above(view.suit(card), card) == 0
}

/// The cards that you may play, without those that would break a pair still to be sung, unless no others are left.
pub fn loose_cards(view: &View) -> Vec<Card> {
    let cards: Vec<Card> = view.legal.iter().map(|action| view.plays(action)).filter(|&card| card >= 0).collect();
    let paired = pairs(view).fold(0, |all, suit| all | view.of_ranks(&view.pair, suit));
    let loose: Vec<Card> = cards.iter().copied().filter(|&card| paired & bit(card) == 0).collect();
    if loose.is_empty() { cards } else { loose }
}
