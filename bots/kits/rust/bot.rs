//! The house bot `greedy` in Rust: it announces whatever pays, and plays the card with the best trick, less what the card is worth later.
//!
//! tute.rs beside it has the dialogue, the view and deals of the hidden cards; sense.rs has announcements and rough chances. The league builds it;
//! tute bot build does so at home.

mod sense;
mod tute;

use sense::{aim, announce, chance_to_hold, is_master, loose_cards, songs_on_table, to_follow, trick_points};
use tute::{Card, View};

const COMING: f64 = 3.0; // points that each seat still to play adds to a trick, on average
const TRICK: f64 = 10.0; // worth of a trick in games that count tricks, not points

/// The points that the trick is expected to bring our side (minus: theirs) if we play the card.
fn trick_value(view: &View, card: Card) -> f64 {
    let points = trick_points(view) + view.value[card as usize] + songs_on_table(view, card);
    let mut worth = match view.result.as_str() {
        "trick_commitments" | "exact_prediction" => TRICK,
        _ => f64::from(points) + COMING * to_follow(view).count() as f64,
    };
    if view.hand.count_ones() == 1 {
        worth += f64::from(view.bonus);
    }
    if view.best < 0 || view.beats(card, view.table[view.best as usize]) {
        return worth * (2.0 * chance_to_hold(view, view.seat, card) - 1.0);
    }
    let (winner, winning) = (view.by[view.best as usize], view.table[view.best as usize]);
    if view.together(winner, view.seat) {
        return worth * (2.0 * chance_to_hold(view, winner, winning) - 1.0);
    }
    let has_partner = (0..view.seats).any(|seat| seat != view.seat && !view.out[seat] && view.together(seat, view.seat));
    worth * (1.0 - 2.0 * if has_partner { chance_to_hold(view, winner, winning) } else { 1.0 })
}

/// The later worth of the card, in points.
fn price(view: &View, card: Card) -> f64 {
    let strength = f64::from(view.strength[card as usize]);
    if view.suit(card) == view.trump {
        return 3.0 + 1.2 * strength;
    }
    if is_master(view, card) && view.value[card as usize] > 0 { 4.0 } else { 0.5 * strength }
}

/// The card that gains most, the first of equals.
fn best_card(view: &View) -> Card {
    let way = f64::from(aim(view));
    let mut best = (f64::NEG_INFINITY, -1);
    for card in loose_cards(view) {
        let gain = way * (trick_value(view, card) - price(view, card));
        if gain > best.0 {
            best = (gain, card);
        }
    }
    best.1
}

fn main() {
    tute::run("kit rust", |view| match announce(view) {
        Some(action) => action.to_string(),
        None => format!("play {}", view.name[best_card(view) as usize]),
    });
}
