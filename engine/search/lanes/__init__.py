"""The rules in machine words.

The rules have one truth, `State.apply`. What runs here is a twin of it in which a whole match lives in machine words: hands, stock and
trick are bit masks, everything by seat is an array of fixed length, the rules of a game are flattened once to plain numbers (`Program`).
Compiled (`make fast`) no Python object is touched between two deals. Twin and truth ask the same seats the same questions and throw the same
dice for the same choices in the same order, so they must show the same and come to the same scores, and the tests hold them to that at every table.
A game with a word of the rules that stands in no table of `program` has no twin: it is played by `State.apply` alone.

    codes, program  the rules as numbers               tricks      the trick, the draw
    lane            the state as numbers               legality    the legal cards
    loading         State -> lane                      announcing  songs, exchanges, claims
    dealing         the cards                          windows     what is announced between tricks
    calls           auctions, before the first lead    verdicts    who wins a deal
    discarding      the change of cards of bato        paying      chips
    asking          what the seat on turn may do       settling    games, marks, scores, end of the match
                                                       running     the match

Two use it: `engine.search.playouts`, which plays by chance, and `engine.search.batch`, in which anybody plays.
"""
