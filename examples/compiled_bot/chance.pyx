"""The slow part of the bot: without types this is Python, with them it becomes C."""

def holds(list beating, list allowed, list sizes, int samples, unsigned long long seed):
    """Return in which part of random deals no rival gets a card that beats yours.

    beating: for each hidden card, True if it beats yours; allowed: for each rival, for each hidden card, True if they may hold it; sizes: the rivals'
    numbers of cards.
    """
    cdef int cards = len(beating), rivals = len(sizes), i, j, rival, left, held = 0
    cdef int beats[64]
    cdef int order[64]
    cdef int may[4][64]
    cdef int size[4]
    cdef unsigned long long state = seed * 2 + 1
    cdef bint beaten
    if cards > 64 or rivals > 4:
        raise ValueError("at most 64 hidden cards and 4 rivals")
    for i in range(cards):
        beats[i], order[i] = beating[i], i
    for rival in range(rivals):
        size[rival] = sizes[rival]
        for i in range(cards):
            may[rival][i] = allowed[rival][i]
    for _ in range(samples):
        for i in range(cards - 1, 0, -1):  # Shuffle.
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            j = (state >> 11) % (i + 1)
            order[i], order[j] = order[j], order[i]
        beaten, i = False, 0
        for rival in range(rivals):
            left = size[rival]
            while left and i < cards and not beaten:
                if may[rival][order[i]]:
                    beaten = beats[order[i]]
                    left -= 1
                i += 1
        held += not beaten
    return held / samples if samples else 1.0
