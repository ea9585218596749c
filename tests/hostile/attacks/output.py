"""Abusing the three pipes."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(
        name="flood stdout",
        source='while True:\n    os.write(1, b"x" * 65536)',
        ends=frozenset({"output_flood"}),
    ),
    Attack(
        name="one line too long",
        source='os.write(1, b"x" * 65537 + b"\\n")\ntime.sleep(60)',
        ends=frozenset({"output_flood"}),
    ),
    Attack(
        name="answer without end",
        source='answer()\nwhile True:\n    os.write(1, b"one\\n")',
        ends=frozenset({"protocol"}),
    ),
    Attack(name="answer twice", source="answer()", ends=frozenset({"protocol"})),
    Attack(
        name="flood stderr", source='for _ in range(200):\n    os.write(2, b"x" * 65536)\nos.write(2, b"last words")'
    ),
    Attack(
        name="flood stderr for ever",
        source='while True:\n    os.write(2, b"x" * 65536)',
        ends=frozenset({"timeout"}),
        budget_s=0.3,
        wall_s=5.0,
    ),
    Attack(
        name="drip without a newline",
        source='while True:\n    os.write(1, b"x")\n    time.sleep(0.02)',
        ends=frozenset({"timeout"}),
        wall_s=0.5,
        detail="wall",
    ),
    Attack(
        name="half a line, then exit",
        source='os.write(1, b"[]")\nos._exit(0)',
        ends=frozenset({"crash"}),
        detail="exit status 0",
    ),
    Attack(
        name="close stdout",
        source="os.close(1)\ntime.sleep(60)",
        ends=frozenset({"disconnect", "timeout"}),
        wall_s=0.7,
    ),
    Attack(
        name="close everything and compute",
        source="os.closerange(0, 3)\nwhile True:\n    pass",
        ends=frozenset({"disconnect", "timeout"}),
        budget_s=0.4,
    ),
    Attack(
        name="close stdin",
        source="answer()\nos.close(0)\ntime.sleep(60)",
        ends=frozenset({"disconnect", "timeout", "protocol"}),
    ),
    Attack(name="bytes that are not text", source="os.write(2, bytes(range(256)) * 10)"),
    Attack(name="read a long request", source="if len(goal['padding']) != 1 << 20: got.append('cut')", padding=1 << 20),
]
