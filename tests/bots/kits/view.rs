//! Answers with the first legal action, and tells on standard error what the library of the kit in Rust knows, a JSON object a request.
//! Its argument is the number of deals. It is built beside a copy of the library.

mod tute;

use tute::{Card, Cards, View};

fn list(view: &View, cards: impl IntoIterator<Item = Card>) -> String {
    let texts: Vec<String> = cards.into_iter().filter(|&card| card >= 0).map(|card| format!("\"{}\"", view.name[card as usize])).collect();
    format!("[{}]", texts.join(","))
}

fn sets(view: &View, sets: &[Cards]) -> String {
    let text = |&set: &Cards| {
        let names: Vec<&str> = view.cards(set).map(|card| view.name[card as usize].as_str()).collect();
        format!("\"{}\"", names.join(" "))
    };
    format!("[{}]", sets.iter().map(text).collect::<Vec<_>>().join(","))
}

fn tell(view: &mut View, deals: usize) {
    let lacks: Vec<Cards> = (0..view.seats)
        .map(|seat| view.cards(view.unseen).filter(|&card| view.lacks(seat, card)).map(tute::bit).sum())
        .collect();
    let not_all: Vec<String> = view
        .not_all
        .iter()
        .map(|of| sets(view, &of.iter().copied().filter(|&cards| cards != 0).collect::<Vec<_>>()))
        .collect();
    let mut numbers = vec![view.stock, view.best];
    for seat in 0..view.seats {
        numbers.extend([view.counts[seat], view.points(view.side[seat])]);
    }
    let mut told = format!(
        "{{\"led\":\"{}\",\"trump\":\"{}\",\"table\":{},\"played\":{},\"shown\":{},\"own\":{},\"known\":{},\"lacks\":{},\"not_all\":[{}],\"plays\":{},\"numbers\":{numbers:?}",
        view.led.to_string().trim(),
        view.trump.to_string().trim(),
        list(view, view.table.clone()),
        list(view, view.played.clone()),
        list(view, [view.shown]),
        sets(view, &[view.hand, view.unseen]),
        sets(view, &view.known),
        sets(view, &lacks),
        not_all.join(","),
        list(view, view.legal.iter().map(|action| view.plays(action))),
    );
    for one in 0..deals {
        told += &view.deal().map_or(",\"none\":1".to_string(), |deal| {
            format!(",\"deal{one}\":{},\"rest{one}\":{}", sets(view, &deal.hands), list(view, deal.rest))
        });
    }
    eprintln!("{told}}}");
}

fn main() {
    let deals = std::env::args().nth(1).map_or(4, |text| text.parse().expect("a number"));
    tute::run("view", |view| {
        tell(view, deals);
        view.legal[0].clone()
    });
}
