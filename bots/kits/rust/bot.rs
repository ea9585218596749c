//! A small bot in Rust: it announces whatever it can, and plays the card that gains most in this trick on average over some deals of the hidden
//! cards.
//!
//! tute.rs beside it has the dialogue, the view and the deals. The league builds it; tute bot build does so at home.

mod tute;

use tute::{Card, Deal, View};

const DEALS: usize = 30;

/// True if no opponent who plays after us holds a card that beats ours in this deal.
fn stands(view: &View, card: Card, deal: &Deal) -> bool {
    (1..view.seats - view.table.len()).map(|step| (view.seat + step) % view.seats).all(|seat| {
        let stronger = |other: Card| {
            if view.suit(other) == view.suit(card) { other < card } else { view.suit(other) == view.trump }
        };
        view.together(seat, view.seat) || !view.cards(deal.hands[seat]).any(stronger)
    })
}

/// The worth of a card in this trick: the points on the table if it wins, minus its own if it loses.
fn worth(view: &View, card: Card, deals: &[Deal]) -> f64 {
    let own = f64::from(view.value[card as usize]);
    let pot = own + view.table.iter().map(|&other| f64::from(view.value[other as usize])).sum::<f64>();
    let leads = view.best < 0 || view.beats(card, view.table[view.best as usize]);
    let won = deals.iter().filter(|deal| leads && stands(view, card, deal)).count();
    let share = won as f64 / deals.len().max(1) as f64;
    share * pot - (1.0 - share) * own - own / 4.0
}

fn liking(view: &View, action: &str, deals: &[Deal]) -> f64 {
    match action.split(' ').next() {
        Some("tute" | "sing" | "exchange") => 300.0,
        Some("pass") => 200.0,
        Some("claim" | "capote" | "accuse") => -500.0,
        _ if view.plays(action) >= 0 => worth(view, view.plays(action), deals),
        _ => 0.0,
    }
}

fn main() {
    tute::run("kit rust", |view| {
        let deals: Vec<Deal> = (0..DEALS).map_while(|_| view.deal()).collect();
        let liked = |action: &String| liking(view, action, &deals);
        view.legal.iter().max_by(|a, b| liked(a).total_cmp(&liked(b))).expect("a choice").clone()
    });
}
