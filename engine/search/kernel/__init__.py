"""The kernel: a second implementation of the rules, in machine words.

`State.apply` defines the rules. The kernel plays the same matches faster: hands, stock and trick are bit masks, everything by seat is an array of
fixed length, and the rules of a game are plain numbers, worked out once (`Program`). Compiled (`make fast`), it touches no Python object between two
deals. The kernel and `State.apply` ask the same seats the same questions and throw the same dice for the same choices in the same order, so
observations and scores are equal; tests compare them at every table. The kernel does not play a game whose rules use a word that no table of `codes`
has.

    codes, program  the rules as numbers               tricks      the trick, the draw
    state           a match as numbers                 legality    the legal cards
    loading         State -> KernelState               announcing  songs, exchanges, claims
    dealing         the cards                          windows     what is announced between tricks
    calls           auctions, before the first lead    verdicts    who wins a deal
    discarding      the change of cards of bato        paying      chips
    asking          what the seat on turn may do       settling    games, marks, scores, end of the match
                                                       running     the match

`engine.search.playouts` plays random matches in the kernel, `engine.search.batch` the matches of learners.
"""
