//! The Tute League for bots in Rust: the protocol, and the view of a seat. One file; it needs only the standard library.
//!
//!     mod tute;
//!     fn main() {
//!         tute::run("my bot", |view| view.legal[0].clone());
//!     }
//!
//! A card is its index in the pack of the game, suit by suit and strongest first: `view.name[card]` is its text, `view.card_of("1o")` the inverse;
//! -1 is no card. A set of cards (`Cards`) has one bit per card. The kits in C and JavaScript use the same names and deal the same cards for a
//! seed.
//!
//! Proofs by plays: a seat that breaks a duty holds no card that it would have had to play instead. The duties are to follow suit, to beat, to
//! trump and not to load a lost trick (`no_load`). After a hidden draw a seat may hold as many of those cards as it has drawn since. A seat that
//! had to sing and did not held no pair; a soloist calls a card of another seat; a seat that sings a hidden suit holds some pair. Calls in an
//! auction prove nothing.
#![allow(dead_code)] // a bot need not use all of it

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

pub type Card = i32;
pub type Cards = u64;
const NEVER: i32 = 99; // no play proved that a seat lacks a card
const TRIES: usize = 10_000; // rejected deals before giving up; at the league's tables at least one deal in six agreed

// --- JSON, as far as the protocol uses it: escapes in texts stay unchanged

pub enum Json {
    Word(String), // true, false, null
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

fn parse(line: &str) -> Json {
    value(line, &mut 0)
}

fn space(line: &str, at: &mut usize) -> u8 {
    while matches!(line.as_bytes().get(*at), Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':')) {
        *at += 1;
    }
    *line.as_bytes().get(*at).unwrap_or(&b'}')
}

/// A text; `at` is the place of its opening quote.
fn quoted(line: &str, at: &mut usize) -> String {
    let start = *at + 1;
    *at = start;
    while line.as_bytes()[*at] != b'"' {
        *at += if line.as_bytes()[*at] == b'\\' { 2 } else { 1 };
    }
    *at += 1;
    line[start..*at - 1].to_string()
}

fn value(line: &str, at: &mut usize) -> Json {
    match space(line, at) {
        b'{' => {
            let mut found = vec![];
            *at += 1;
            while space(line, at) != b'}' {
                let key = quoted(line, at);
                found.push((key, value(line, at)));
            }
            *at += 1;
            Json::Object(found)
        }
        b'[' => {
            let mut found = vec![];
            *at += 1;
            while space(line, at) != b']' {
                found.push(value(line, at));
            }
            *at += 1;
            Json::List(found)
        }
        b'"' => Json::Text(quoted(line, at)),
        _ => {
            let rest = &line[*at..];
            let word = &rest[..rest.find([',', '}', ']', ' ', '\n', '\r']).unwrap_or(rest.len())];
            assert!(!word.is_empty(), "no JSON");
            *at += word.len();
            word.parse().map_or_else(|_| Json::Word(word.to_string()), Json::Number)
        }
    }
}

impl Json {
    /// The field of an object; None if it is missing or null.
    pub fn field(&self, key: &str) -> Option<&Json> {
        let fields = if let Json::Object(fields) = self { fields } else { return None };
        let found = &fields.iter().find(|(name, _)| name == key)?.1;
        if matches!(found, Json::Word(word) if word == "null") { None } else { Some(found) }
    }

    pub fn items(&self, key: &str) -> &[Json] {
        if let Some(Json::List(found)) = self.field(key) { found } else { &[] }
    }

    pub fn number(&self, key: &str, otherwise: i32) -> i32 {
        self.field(key).map_or(otherwise, |found| found.whole().unwrap_or(otherwise))
    }

    pub fn text(&self, key: &str) -> &str {
        self.field(key).map_or("", Json::word)
    }

    fn whole(&self) -> Option<i32> {
        if let Json::Number(found) = self { Some(*found as i32) } else { None }
    }

    fn word(&self) -> &str {
        if let Json::Text(found) | Json::Word(found) = self { found } else { "" }
    }

    fn is_true(&self, key: &str) -> bool {
        self.text(key) == "true"
    }
}

// --- the rules of the games

// >>> written by `make texts` from engine/games; do not edit
const RULES: &str = r#"{"demands":{"free":"00000000000000000","trump_follow":"00000000101010100","follow":"10101010101010100","follow_or_trump":"11111111101010100","strict none false false":"21211313202010101","strict none false true":"21212323202010101","strict none true false":"21211212202010101","strict none true true":"21212222202010101","strict trump_only false false":"21201310202010101","strict trump_only false true":"21202320202010101","strict trump_only true false":"21201210202010101","strict trump_only true true":"21202220202010101","strict all false false":"21101310201010101","strict all false true":"21102310201010101","strict all true false":"21101210201010101","strict all true true":"21102210201010101"},"tute":{"sides":"single","deck":"es40","rank_order":"13RCS76542","rank_points":{"1":11,"3":10,"R":4,"C":3,"S":2},"auction":"none","passed_may_join":null,"call_own_card":"forbidden","obligation_stock_open":"free","obligation_stock_empty":"strict","partner_exempt":"none","undertrump":false,"beat_after_trumped":false,"no_load":false,"hand_songs":"trick_winner","pair_ranks":"RC","songs_per_trick":1,"song_order":"any","song_values":{"trump":40,"other":20},"table_songs":"none","sing_first_trick_only":false,"singing_mandatory":false,"tute":"wins","tute_ranks":"RC","tute_first_trick_only":false,"last_trick_bonus":10,"result":"most_points_wins","target":null,"settlement":"games","illegal_move":"reject"},"games":{
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
},"implied":{"a_dos":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"americano":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"arrastrado":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"bato":{"no_load=true":{"rank_points":{"1":11,"3":10,"R":4,"C":3,"S":2}},"match_end=losses":{"settlement":"loss_marks"}},"brisca":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"cabrero":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"chancho":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"codillo":{"match_end=losses":{"settlement":"loss_marks"},"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"corriente":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"gana_pierde_3":{"rank_order=13RSC7654":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"gana_pierde_4_5":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"habanero":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"havanian":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"individual":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"partnership":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"podrida":{"preset=podrida52":{"deck":"fr52","rank_order":"AKQJT98765432"}},"remate":{"match_end=elimination":{"settlement":"loss_marks"},"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"subastado":{"rank_order=13RSC7654":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}},"two_player":{"rank_order=13RSC76542":{"rank_points":{"1":11,"3":10,"R":4,"S":3,"C":2},"pair_ranks":"RS","tute_ranks":"RS"}}}}"#;
// <<< written by `make texts`

/// A parameter of the table by its name in the rules book: from the options, or else from the game.
fn rule<'a>(rules: &'a Json, hello: &'a Json, name: &str) -> &'a Json {
    find_rule(rules, hello, name).expect(name)
}

fn find_rule<'a>(rules: &'a Json, hello: &'a Json, name: &str) -> Option<&'a Json> {
    let game = hello.text("game");
    let of_game = rules.field("games").and_then(|games| games.field(game)).and_then(|table| table.field(name));
    let mut found = of_game.or_else(|| rules.field("tute").and_then(|table| table.field(name)));
    if let Some(Json::Object(options)) = hello.field("options") {
        let implied = rules.field("implied").and_then(|table| table.field(game));
        for (option, value) in options {
            let further = implied.and_then(|table| table.field(&format!("{option}={}", value.word())));
            found = further.and_then(|table| table.field(name)).or(found);
        }
    }
    found = hello.field("options").and_then(|options| options.field(name)).or(found);
    found.map(|found| found.field(&format!("{}p", hello.number("seats", 2))).unwrap_or(found))
}

// The demands of a duty on a follower's cards of one suit: none; one of them; a higher one, else one of them; a higher one, else any card.
const ANY: u8 = b'0';
const ALL: u8 = b'1';
const HIGHER_OR_ALL: u8 = b'2';

/// The demands of an obligation of the table, two digits per situation: on cards of the suit led, and on trumps if the hand has none of that suit.
/// A situation is a number: 4 if trumps were led, plus 2 if a trump is winning another suit, plus 1 if the partner is winning.
fn demands_of(rules: &Json, hello: &Json, name: &str) -> String {
    let words = [name, "partner_exempt", "undertrump", "beat_after_trumped"].map(|one| rule(rules, hello, one).word().to_string());
    let demands = rules.field("demands").expect("demands");
    demands.field(&words.join(" ")).or_else(|| demands.field(&words[0])).expect(name).word().to_string()
}

// --- the knowledge of a seat

/// A song whose suit is hidden, with the pair of each suit that it may be.
pub struct Song {
    pub seat: usize,
    pub pairs: [Option<Cards>; 4],
}

#[derive(Default)]
pub struct View {
    pub game: String,
    pub seats: usize, // how many
    pub seat: usize,  // yours
    pub side: Vec<usize>, // the side of each seat
    pub seed: u32,    // for your own random choices
    pub size: usize,  // cards in the pack
    pub name: Vec<String>, // the text of each card
    pub value: Vec<i32>, // card points
    pub strength: Vec<i32>, // within the suit, 0 for the weakest
    pub hand: Cards,  // your cards
    pub table: Vec<Card>, // the cards of the trick
    pub by: Vec<usize>, // who played them
    pub best: i32,    // index on the table of the winning card, -1 before a lead
    pub led: char,    // a suit, or ' '
    pub trump: char,
    pub shown: Card,  // the card that fixed the trump
    pub stock: i32,   // cards to be drawn, the shown one included
    pub played: Vec<Card>, // cards of the deal in order
    pub unseen: Cards, // cards whose place you do not know
    pub known: Vec<Cards>, // cards that a seat certainly holds; not your own
    pub counts: Vec<i32>, // cards left in each hand
    pub not_all: Vec<[Cards; 8]>, // by seat, sets (of a suit, of a rank) of which it does not hold every card; 0: nothing is known
    pub songs: Vec<Song>, // whose suit is hidden
    pub tricks: Vec<i32>, // won in this deal, by seat
    pub winner: i32,  // of the last trick, or -1
    pub scored: Vec<i32>, // cards, songs and last trick in this deal, by seat
    pub soloist: i32, // from an auction, or -1
    pub partner: i32,
    pub out: Vec<bool>, // true for a seat that is not in this deal
    pub call: Vec<String>, // the last call of each seat in an auction
    pub predicted: Vec<i32>, // tricks that a seat says it will take
    pub totals: Vec<i32>, // points carried into this deal, by side
    pub barred: Vec<Cards>, // cards that a seat did not hold at its last play, by the duties; a hidden draw ends this knowledge
    // of the rules book: points that win the match, or 0; points of songs; words
    pub target: i32,
    pub song_trump: i32,
    pub song_other: i32,
    pub result: String,
    pub settlement: String,
    pub table_songs: String,
    pub stock_duty: String, // obligation_stock_open
    pub bonus: i32,         // for the last trick
    pub legal: Vec<String>, // the legal answers
    age: Vec<Vec<i32>>, // for each unseen card that a seat was proved to lack, the number of hidden cards that the seat has drawn since; else NEVER
    open: bool,
    notice: Card,
    by_auction: bool,
    joins: bool,
    pass_ends: bool,
    proves: bool,
    no_load: bool,
    calls_own: bool,
    must_sing: bool,
    most_songs: i32,
    sing_first: bool,
    tute_first: bool,
    said: Vec<i32>, // songs since the last trick, by seat
    twenty: Vec<bool>,
    pub sung: String, // suits
    demands_open: String,
    demands_empty: String,
    pub singers: String, // who may sing: hand_songs
    order: String,
    pub pair: String, // ranks
    tutes: String,
}

pub struct Deal {
    pub hands: Vec<Cards>, // your own among them
    pub rest: Vec<Card>,   // cards in no hand: the stock, face down, and cards that others put away
}

pub fn bit(card: Card) -> Cards {
    if card < 0 { 0 } else { 1 << card }
}

fn letter(text: &str) -> char {
    text.chars().next().unwrap_or(' ')
}

/// The cards of a set that remain to be named; see `View::cards`.
pub struct Members(Cards);

impl Iterator for Members {
    type Item = Card;

    fn next(&mut self) -> Option<Card> {
        let card = self.0.trailing_zeros() as Card;
        self.0 &= self.0.wrapping_sub(1);
        if card < Cards::BITS as Card { Some(card) } else { None }
    }
}

impl View {
    fn new(hello: &Json) -> View {
        let rules = parse(RULES);
        let of_table = |name| find_rule(&rules, hello, name);
        let word = |name| rule(&rules, hello, name).word().to_string();
        let (deck, illegal) = (word("deck"), word("illegal_move"));
        let seats = hello.number("seats", 2) as usize;
        let mut view = View {
            game: hello.text("game").to_string(),
            seats,
            seat: hello.number("seat", 0) as usize,
            seed: hello.field("seed").map_or(0, |seed| if let Json::Number(seed) = seed { *seed as u64 as u32 } else { 0 }),
            side: vec![0; seats],
            demands_open: demands_of(&rules, hello, "obligation_stock_open"),
            demands_empty: demands_of(&rules, hello, "obligation_stock_empty"),
            no_load: word("no_load") == "true",
            calls_own: word("call_own_card") == "solo",
            must_sing: word("singing_mandatory") == "true",
            most_songs: rule(&rules, hello, "songs_per_trick").whole().unwrap_or(NEVER),
            sing_first: word("sing_first_trick_only") == "true",
            tute_first: word("tute_first_trick_only") == "true",
            singers: word("hand_songs"),
            order: word("song_order"),
            pair: word("pair_ranks"),
            tutes: if word("tute") == "wins" { word("tute_ranks") } else { String::new() },
            joins: word("auction") == "play_then_join",
            pass_ends: of_table("passed_may_join").map_or(false, |late| late.word() == "false"),
            target: of_table("target").and_then(Json::whole).unwrap_or(0),
            song_trump: rule(&rules, hello, "song_values").number("trump", 0),
            song_other: rule(&rules, hello, "song_values").number("other", 0),
            result: word("result"),
            settlement: word("settlement"),
            table_songs: word("table_songs"),
            stock_duty: word("obligation_stock_open"),
            totals: vec![0; hello.items("sides").len()],
            proves: illegal != "accuse", // if others must accuse, a seat may play an illegal card
            by_auction: word("sides").starts_with("soloist"),
            bonus: rule(&rules, hello, "last_trick_bonus").whole().unwrap_or(0),
            ..View::default()
        };
        for (side, of) in hello.items("sides").iter().enumerate() {
            if let Json::List(seats) = of {
                seats.iter().filter_map(Json::whole).for_each(|seat| view.side[seat as usize] = side);
            }
        }
        for suit in if deck == "fr52" { "shdc" } else { "oceb" }.chars() {
            for rank in word("rank_order").chars() {
                if rank == '2' && (deck == "es36" || (deck == "es39" && suit == 'c')) {
                    continue;
                }
                let order = word("rank_order");
                view.name.push(format!("{rank}{suit}"));
                view.strength.push(order.len() as i32 - 1 - order.find(rank).map_or(0, |place| place as i32));
                view.value.push(rule(&rules, hello, "rank_points").number(&rank.to_string(), 0));
            }
        }
        view.size = view.name.len();
        view.begin_deal(&Json::Word(String::new()));
        view
    }

    pub fn card_of(&self, text: &str) -> Card {
        self.name.iter().position(|name| name == text).map_or(-1, |place| place as Card)
    }

    pub fn suit(&self, card: Card) -> char {
        self.name[card as usize].as_bytes()[1] as char
    }

    /// The cards of a set, in the order of the pack.
    pub fn cards(&self, set: Cards) -> Members {
        Members(set & (bit(self.size as Card) - 1))
    }

    /// The card that a legal text plays, or -1.
    pub fn plays(&self, action: &str) -> Card {
        action.strip_prefix("play ").map_or(-1, |card| self.card_of(card))
    }

    pub fn together(&self, a: usize, b: usize) -> bool {
        let solo = |seat: usize| seat as i32 == self.soloist || seat as i32 == self.partner;
        if self.by_auction && self.soloist >= 0 { solo(a) == solo(b) } else { self.side[a] == self.side[b] }
    }

    pub fn points(&self, side: usize) -> i32 {
        (0..self.seats).filter(|&seat| self.side[seat] == side).map(|seat| self.scored[seat]).sum()
    }

    /// True if a card, played later, beats another one of this trick.
    pub fn beats(&self, card: Card, other: Card) -> bool {
        if self.suit(card) == self.suit(other) {
            return card < other;
        }
        self.suit(card) == self.trump || (self.suit(card) == self.led && self.suit(other) != self.trump)
    }

    /// True if a seat certainly does not hold a card.
    pub fn lacks(&self, seat: usize, card: Card) -> bool {
        if seat == self.seat {
            return self.hand & bit(card) == 0;
        }
        self.known[seat] & bit(card) == 0 && (self.unseen & bit(card) == 0 || self.age[seat][card as usize] == 0)
    }

    /// True if a seat certainly holds no card of a suit.
    pub fn is_void(&self, seat: usize, suit: char) -> bool {
        (0..self.size as Card).all(|card| self.suit(card) != suit || self.lacks(seat, card))
    }

    /// Update the view by an event. Kinds that change nothing here are ignored.
    pub fn see(&mut self, event: &Json) {
        let by = event.number("seat", -1);
        let seat = by.max(0) as usize;
        let card = self.card_of(event.text("card"));
        match event.text("e") {
            "deal" => self.begin_deal(event),
            "play" => {
                self.before_lead();
                self.goes(seat, card);
                self.counts[seat] -= 1;
                if self.table.is_empty() {
                    self.led = self.suit(card);
                    self.open = self.stock > 0;
                } else if seat != self.seat {
                    self.learn(seat, card);
                }
                self.played.push(card);
                self.by.push(seat);
                self.table.push(card);
                self.judge_table();
            }
            "trick" => {
                self.scored[seat] += event.number("points", 0) + if event.is_true("last") { self.bonus } else { 0 };
                self.tricks[seat] += 1;
                self.winner = by;
                self.said = vec![0; self.seats];
                self.table.clear();
                self.by.clear();
                self.led = ' ';
                self.best = -1;
            }
            "draw" => {
                self.counts[seat] += 1;
                self.stock = (self.stock - 1).max(0);
                if seat != self.seat || card >= 0 {
                    self.comes(seat, card);
                }
            }
            "take" => {
                self.counts[seat] += 1;
                self.comes(seat, card);
                self.shown = -1;
            }
            "notice" => {
                self.notice = card;
                self.goes(seat, card);
                self.counts[seat] -= 1;
            }
            "return" => {
                self.notice = -1;
                self.comes(seat, card);
                self.counts[seat] += 1;
            }
            "exchange" => {
                let gives = self.card_of(event.text("gives"));
                if self.notice == gives {
                    self.notice = -1;
                    self.counts[seat] += 1;
                }
                self.goes(seat, gives);
                self.comes(seat, self.card_of(event.text("takes")));
                self.shown = gives;
            }
            "discard" => {
                self.counts[seat] -= event.number("count", 0);
                for one in event.items("cards") {
                    self.goes(seat, self.card_of(one.word()));
                }
                if event.field("cards").is_none() {
                    self.unseen |= self.known[seat]; // the seat may have put away cards that it had shown
                    self.known[seat] = 0;
                }
            }
            "song" | "tute" => {
                self.scored[seat] += event.number("points", 0);
                let suit = letter(event.text("suit"));
                if suit != ' ' {
                    self.sung.push(suit);
                }
                if !event.is_true("table") {
                    self.said[seat] += 1;
                    self.twenty[seat] |= suit != self.trump;
                    if suit == ' ' && event.text("e") == "song" {
                        self.hidden_song(seat);
                    }
                    self.shows(seat, event.items("cards"));
                }
            }
            "look" => self.shows(event.number("of", 0) as usize, event.items("cards")),
            "reveal" => {
                if seat != self.seat {
                    self.uncover(seat, card);
                    self.known[seat] |= bit(card);
                }
                if event.field("shown").is_some() {
                    self.shown = self.card_of(event.text("shown"));
                }
                self.unseen &= !bit(self.shown);
            }
            "last_ten" if !event.is_true("taken") => self.scored[seat] -= self.bonus,
            "trump" => {
                self.trump = letter(event.text("suit"));
                if by >= 0 {
                    self.soloist = by;
                }
                if event.field("lead").is_some() {
                    self.led = letter(event.text("lead"));
                }
                self.judge_table();
            }
            "call" => {
                let call = event.text("call");
                if call.starts_with("bid") || (call == "play" && self.soloist < 0) {
                    self.soloist = by;
                }
                self.call[seat] = call.to_string();
                if self.joins && self.soloist >= 0 {
                    self.decide();
                }
            }
            "predict" => self.predicted[seat] = event.number("tricks", 0),
            "score" => self.carry(event),
            "called" if self.hand & bit(card) != 0 => self.partner = self.seat as i32,
            "called" if !self.calls_own => self.age[seat][card as usize] = 0,
            "partner" => self.partner = by,
            "takeover" => {
                let of = event.number("of", 0) as usize;
                let mine = if seat == self.seat { self.known[of] } else if of == self.seat { 0 } else { self.hand };
                self.known[seat] = if of == self.seat { self.hand } else { 0 };
                self.known[of] = 0;
                self.hand = mine;
                self.counts.swap(seat, of);
                self.soloist = by;
                (self.out[of], self.out[seat]) = (true, false);
            }
            _ => {}
        }
    }

    fn begin_deal(&mut self, event: &Json) {
        self.unseen = (1 << self.size) - 1;
        self.hand = 0;
        self.known = vec![0; self.seats];
        self.age = vec![vec![NEVER; self.size]; self.seats];
        self.barred = vec![0; self.seats];
        self.not_all = vec![[0; 8]; self.seats];
        self.out = vec![false; self.seats];
        event.items("out").iter().filter_map(Json::whole).for_each(|seat| self.out[seat as usize] = true);
        self.call = vec![String::new(); self.seats];
        self.predicted = vec![0; self.seats];
        if event.number("deal", 0) == 1 {
            self.totals.fill(0);
        }
        self.carry(event);
        self.scored = vec![0; self.seats];
        self.tricks = vec![0; self.seats];
        self.said = vec![0; self.seats];
        self.twenty = vec![false; self.seats];
        self.songs.clear();
        self.sung.clear();
        self.counts = event.items("counts").iter().filter_map(Json::whole).collect();
        self.counts.resize(self.seats, 0);
        for one in event.items("hand") {
            self.comes(self.seat, self.card_of(one.word()));
        }
        self.trump = letter(event.text("trump"));
        self.stock = event.number("stock", 0);
        self.shown = self.card_of(event.text("shown"));
        self.unseen &= !bit(self.shown);
        let holder = event.number("holder", -1);
        if holder >= 0 && holder as usize != self.seat {
            self.known[holder as usize] |= bit(self.shown);
        }
        self.table.clear();
        self.by.clear();
        self.played.clear();
        self.led = ' ';
        (self.best, self.soloist, self.partner, self.notice, self.winner) = (-1, -1, -1, -1, -1);
        // In a game without a stock the shown card lies on the table until the first lead.
    }

    fn carry(&mut self, event: &Json) {
        for (total, points) in self.totals.iter_mut().zip(event.items("totals").iter().filter_map(Json::whole)) {
            *total = points;
        }
    }

    /// Record, in a game where seats join a soloist, who stays out once every seat has decided.
    fn decide(&mut self) {
        let wavers = |call: &String| call.is_empty() || (call == "pass" && !self.pass_ends);
        if !self.call.iter().zip(&self.out).any(|(call, &out)| !out && wavers(call)) {
            self.out = self.call.iter().map(|call| call != "play" && call != "join").collect();
        }
    }

    /// Record that a card turned up that the seat was proved to lack: the seat has drawn it since.
    fn uncover(&mut self, seat: usize, card: Card) {
        if self.unseen & bit(card) == 0 {
            return;
        }
        self.unseen &= !bit(card);
        let age = self.age[seat][card as usize];
        for other in &mut self.age[seat] {
            if age != NEVER && *other != NEVER && *other >= age && *other > 0 {
                *other -= 1;
            }
        }
    }

    /// Put a card into a hand; -1 if it is hidden.
    fn comes(&mut self, seat: usize, card: Card) {
        if card < 0 {
            self.barred[seat] = 0;
            self.age[seat].iter_mut().filter(|age| **age != NEVER).for_each(|age| *age += 1);
            return;
        }
        self.unseen &= !bit(card);
        *self.held(seat) |= bit(card);
    }

    fn goes(&mut self, seat: usize, card: Card) {
        self.uncover(seat, card);
        *self.held(seat) &= !bit(card);
        // The singer need not hold a pair any longer once a card of it is played; a pair of which another seat had a card was not sung.
        for song in &mut self.songs {
            for pair in &mut song.pairs {
                *pair = match *pair {
                    Some(cards) if song.seat == seat => Some(cards & !bit(card)),
                    Some(cards) if cards & bit(card) != 0 => None,
                    other => other,
                };
            }
        }
    }

    fn held(&mut self, seat: usize) -> &mut Cards {
        if seat == self.seat { &mut self.hand } else { &mut self.known[seat] }
    }

    fn shows(&mut self, seat: usize, cards: &[Json]) {
        for one in cards {
            let card = self.card_of(one.word());
            self.uncover(seat, card);
            if seat != self.seat {
                self.known[seat] |= bit(card);
            }
        }
    }

    fn judge_table(&mut self) {
        self.best = if self.table.is_empty() { -1 } else { 0 };
        for one in 1..self.table.len() {
            if self.beats(self.table[one], self.table[self.best as usize]) {
                self.best = one as i32;
            }
        }
    }

    /// The best card of a suit on the table, or -1.
    fn best_of(&self, suit: char) -> Card {
        self.table.iter().copied().filter(|&card| self.suit(card) == suit).min().unwrap_or(-1)
    }

    /// The class of a card under the duties of a seat: the seat must play a card of a lower class before one of a higher.
    fn duty(&self, seat: usize, card: Card) -> i32 {
        let demands = if self.open { &self.demands_open } else { &self.demands_empty }.as_bytes();
        let (led, trump, suit, best) = (self.led, self.trump, self.suit(card), self.best as usize);
        let followed = suit == led;
        let place = if followed { 0 } else { 200 };
        let trumped = if led == trump { 4 } else if self.best_of(trump) >= 0 { 2 } else { 0 };
        let situation = trumped + usize::from(self.together(self.by[best], seat));
        let demand = if followed || suit == trump { demands[2 * situation + usize::from(!followed)] } else { ANY };
        // if no card can win, the cards of least value come first
        let loads = demands[16] == b'1' && self.no_load && !self.beats(card, self.table[best]);
        let load = if loads { self.value[card as usize] } else { 0 };
        if demand == ALL || (demand != ANY && card < self.best_of(suit)) {
            return load + place;
        }
        load + if demand == HIGHER_OR_ALL { place + 100 } else { 400 }
    }

    /// The cards of a suit that beat one of them; all if it is -1.
    pub fn above(&self, suit: char, best: Card) -> Cards {
        let beats = |card: &Card| self.suit(*card) == suit && (best < 0 || *card < best);
        (0..self.size as Card).filter(beats).map(bit).sum()
    }

    /// Record which cards of the suit led and of trumps a seat lacks now.
    fn bar(&mut self, seat: usize, card: Card) {
        let trumped = if self.led == self.trump { 4 } else if self.best_of(self.trump) >= 0 { 2 } else { 0 };
        let situation = trumped + usize::from(self.together(self.by[self.best as usize], seat));
        for (trumps, &suit) in [self.led, self.trump].iter().enumerate() {
            let demands = if self.open { &self.demands_open } else { &self.demands_empty };
            let (demand, best) = (demands.as_bytes()[2 * situation + trumps], self.best_of(suit));
            if self.suit(card) == suit {
                if demand >= HIGHER_OR_ALL && best >= 0 && card > best {
                    self.barred[seat] |= self.above(suit, best);
                }
                return;
            }
            if demand != ANY {
                self.barred[seat] |= self.above(suit, if demand > HIGHER_OR_ALL { best } else { -1 });
            }
        }
    }

    /// Record what a card proves about the hand that it comes from.
    fn learn(&mut self, seat: usize, card: Card) {
        if !self.proves || self.led == ' ' {
            return;
        }
        self.bar(seat, card);
        let duty = self.duty(seat, card);
        for other in self.cards(self.unseen) {
            if self.duty(seat, other) < duty {
                self.age[seat][other as usize] = 0;
            }
        }
    }

    /// The cards of some ranks, in one suit or in all (' ').
    pub fn of_ranks(&self, ranks: &str, suit: char) -> Cards {
        let has = |card: &Card| ranks.contains(letter(&self.name[*card as usize])) && (suit == ' ' || self.suit(*card) == suit);
        (0..self.size as Card).filter(has).map(bit).sum()
    }

    /// Record, once nobody can sing any more before the next lead, that a seat that had to sing and did not held no pair.
    fn before_lead(&mut self) {
        for seat in 0..self.seats {
            if seat != self.seat && self.table.is_empty() && self.winner >= 0 && self.must_sing {
                self.unsung(seat);
            }
        }
    }

    /// Games with this duty have no stock, so what was not sung cannot be drawn later.
    fn unsung(&mut self, seat: usize) {
        let mates: Vec<usize> = (0..self.seats).filter(|&other| self.together(other, seat)).collect();
        let tricks: i32 = mates.iter().map(|&other| self.tricks[other]).sum();
        let winner = self.winner as usize;
        let sings = if self.singers == "winning_side" { mates.contains(&winner) } else { seat == winner };
        if !sings || self.said[seat] >= self.most_songs || (self.sing_first && tricks != 1) {
            return;
        }
        let of_side = self.order == "forty_first_side" && mates.iter().any(|&other| self.twenty[other]);
        let late = self.order != "any" && (self.twenty[seat] || of_side); // for the forty
        for (place, suit) in "oceb".chars().enumerate() {
            if !self.sung.contains(suit) && !(suit == self.trump && late) {
                self.not_all[seat][place] = self.of_ranks(&self.pair, suit);
            }
        }
        if !self.tute_first || tricks == 1 {
            for (place, rank) in self.tutes.chars().enumerate() {
                self.not_all[seat][4 + place] = self.of_ranks(&rank.to_string(), ' ');
            }
        }
    }

    fn hidden_song(&mut self, seat: usize) {
        let there = self.unseen | self.known[seat];
        let pairs = ['o', 'c', 'e', 'b'].map(|suit| {
            let pair = self.of_ranks(&self.pair, suit);
            if pair & !there == 0 && suit != self.trump && !self.sung.contains(suit) { Some(pair) } else { None }
        });
        self.songs.push(Song { seat, pairs });
    }

    /// True if each song, from this one on, can have had a different suit.
    fn sung_from(&self, hands: &[Cards], number: usize, used: u32) -> bool {
        let song = if let Some(song) = self.songs.get(number) { song } else { return true };
        let held = |pair: Option<Cards>| pair.map_or(false, |cards| cards & !hands[song.seat] == 0);
        (0..4).any(|suit| used >> suit & 1 == 0 && held(song.pairs[suit]) && self.sung_from(hands, number + 1, used | 1 << suit))
    }

    /// True if hands agree with the facts about more than one card.
    fn agrees(&self, hands: &[Cards]) -> bool {
        for (seat, &hand) in hands.iter().enumerate().filter(|&(seat, _)| seat != self.seat) {
            if self.not_all[seat].iter().any(|&cards| cards != 0 && cards & !hand == 0) {
                return false;
            }
            // each card that the seat was proved to lack needs a draw of its own since the proof
            let mut ages: Vec<i32> = self.cards(hand & self.unseen).map(|card| self.age[seat][card as usize]).collect();
            ages.sort_unstable();
            if (0..).zip(ages).any(|(drawn, age)| age <= drawn) {
                return false;
            }
        }
        self.sung_from(hands, 0, 0)
    }

    /// A random number, at least 0 and below 1. It advances the seed (mulberry32, as in the other kits).
    pub fn chance(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x6D2B_79F5);
        let mut mixed = (self.seed ^ self.seed >> 15).wrapping_mul(self.seed | 1);
        mixed ^= mixed.wrapping_add((mixed ^ mixed >> 7).wrapping_mul(mixed | 61));
        f64::from(mixed ^ mixed >> 14) / 4_294_967_296.0
    }

    fn shuffle(&mut self, cards: &mut [Card]) {
        for left in (2..=cards.len()).rev() {
            let place = (self.chance() * left as f64) as usize;
            cards.swap(left - 1, place);
        }
    }

    /// A deal of the hidden cards that agrees with all facts; None if none does, or if none was found in TRIES draws. Every placement has the same
    /// chance, except for the rounding of doubles, because the placements left after each choice are counted. Hand sizes, known cards and lacking
    /// cards never cause a rejection; with one hidden hand, cards drawn since a proof do not either. A deal that contradicts a fact about several
    /// cards is rejected.
    pub fn deal(&mut self) -> Option<Deal> {
        let mut need: Vec<i32> = (0..self.seats).map(|seat| self.counts[seat] - self.known[seat].count_ones() as i32).collect();
        need[self.seat] = 0;
        if need.iter().any(|&count| count < 0) {
            return None;
        }
        let one_hand = need.iter().filter(|&&count| count > 0).count() == 1;
        let unseen: Vec<Card> = self.cards(self.unseen).collect();
        let is_bound = |seat: usize, card: Card| need[seat] > 0 && self.age[seat][card as usize] < if one_hand { need[seat] } else { 1 };
        // hands that may hold every card count as part of the rest
        let who: Vec<usize> = (0..self.seats).filter(|&seat| unseen.iter().any(|&card| is_bound(seat, card))).collect();
        let (mut bound, free): (Vec<Card>, Vec<Card>) = unseen.iter().partition(|&&card| who.iter().any(|&seat| is_bound(seat, card)));
        if one_hand && !who.is_empty() {
            // The last proof comes first, so that all cards taken so far count against the next one.
            bound.sort_by_key(|&card| self.age[who[0]][card as usize]);
        }
        let mut places = Places {
            age: who.iter().map(|&seat| bound.iter().map(|&card| self.age[seat][card as usize]).collect()).collect(),
            need: who.iter().map(|&seat| need[seat]).collect(),
            room: vec![],
            bounds: bound.len(),
            unseen: unseen.len(),
            one_hand,
            counted: HashMap::new(),
        };
        places.room.clone_from(&places.need);
        for _ in 0..if places.ways(0) > 0.0 { TRIES } else { 0 } {
            let found = self.place(&mut places, &who, &bound, free.clone(), need.clone())?;
            if self.agrees(&found.hands) {
                return Some(found);
            }
        }
        None
    }

    /// Put the unseen cards into hands: the bound ones by their counts, the others at random.
    fn place(&mut self, places: &mut Places, who: &[usize], bound: &[Card], mut loose: Vec<Card>, mut need: Vec<i32>) -> Option<Deal> {
        let mut hands = self.known.clone();
        hands[self.seat] = self.hand;
        places.room.clone_from(&places.need);
        let mut pool = vec![];
        for (place, &card) in bound.iter().enumerate() {
            let mut mark = self.chance() * places.ways(place);
            let mut goes_to = None;
            for hand in 0..who.len() {
                if goes_to.is_none() && places.fits(place, hand) {
                    let there = places.within(place, hand);
                    mark -= there;
                    if there > 0.0 && mark < 0.0 {
                        goes_to = Some(hand);
                    }
                }
            }
            match goes_to {
                None => pool.push(card),
                Some(hand) => {
                    places.room[hand] -= 1;
                    hands[who[hand]] |= bit(card);
                }
            }
        }
        self.shuffle(&mut loose);
        for (hand, &seat) in who.iter().enumerate() {
            need[seat] = 0;
            for _ in 0..places.room[hand] {
                hands[seat] |= bit(loose.pop()?);
            }
        }
        loose.reverse();
        pool.append(&mut loose);
        self.shuffle(&mut pool);
        for seat in 0..self.seats {
            for _ in 0..need[seat] {
                hands[seat] |= bit(pool.pop()?);
            }
        }
        Some(Deal { hands, rest: pool })
    }
}

/// The cards that some hand cannot hold, to be placed one after another.
struct Places {
    age: Vec<Vec<i32>>, // by hand and place
    need: Vec<i32>,
    room: Vec<i32>,
    bounds: usize,
    unseen: usize,
    one_hand: bool, // True if one hand is hidden; then cards drawn since a proof are counted, too
    counted: HashMap<u64, f64>,
}

impl Places {
    /// True if a card may go to a hand.
    fn fits(&self, place: usize, hand: usize) -> bool {
        let (age, room) = (self.age[hand][place], self.room[hand]);
        room > 0 && if self.one_hand { self.need[hand] - room < age } else { age > 0 }
    }

    /// The number of ways to place the cards from `place` on into the room of the hands; free cards are counted at the end.
    fn ways(&mut self, place: usize) -> f64 {
        let mut left = (self.unseen - place) as i32;
        let rest = left - self.room.iter().sum::<i32>();
        if rest < 0 {
            return 0.0;
        }
        let key = self.room.iter().zip(&self.need).fold(place as u64, |sum, (&room, &need)| sum * (need as u64 + 1) + room as u64);
        if let Some(&found) = self.counted.get(&key) {
            return found;
        }
        let mut found;
        if place == self.bounds {
            found = 1.0;
            for &room in &self.room {
                for card in 1..=room {
                    found = found * f64::from(left) / f64::from(card);
                    left -= 1;
                }
            }
        } else {
            found = if rest > 0 { self.ways(place + 1) } else { 0.0 };
            for hand in 0..self.room.len() {
                if self.fits(place, hand) {
                    found += self.within(place, hand);
                }
            }
        }
        self.counted.insert(key, found);
        found
    }

    fn within(&mut self, place: usize, hand: usize) -> f64 {
        self.room[hand] -= 1;
        let found = self.ways(place + 1);
        self.room[hand] += 1;
        found
    }
}

// --- the conversation

/// Talk to the referee until it closes the connection; `choose` returns one of view.legal.
pub fn run(name: &str, mut choose: impl FnMut(&mut View) -> String) {
    let mut view = View::default();
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let message = parse(&line.expect("a line of text"));
        let answer = match message.text("type") {
            "hello" => {
                view = View::new(&message);
                format!("{{\"type\":\"ready\",\"name\":\"{name}\"}}")
            }
            "act" => {
                message.items("events").iter().for_each(|event| view.see(event));
                view.legal = message.items("legal").iter().map(|text| text.word().to_string()).collect();
                if view.legal.iter().any(|action| view.plays(action) >= 0) {
                    view.before_lead();
                }
                format!("{{\"id\":{},\"do\":\"{}\"}}", message.number("id", 0), choose(&mut view))
            }
            _ => continue,
        };
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return; // the referee is gone
        }
    }
}
