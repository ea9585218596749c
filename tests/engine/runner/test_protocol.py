"""The strict reading of a bot's lines, and the lines it gets."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.runner import protocol
from engine.runner.faults import Fault, quoted
from engine.runner.limits import Clock, Limits, Noise
from engine.runner.sitting import Texts


def refused(line: bytes, number: int = 7) -> str:
    with pytest.raises(Fault) as caught:
        protocol.answer(line, number)
    assert caught.value.kind == "protocol"
    assert "expected:" in caught.value.detail
    assert caught.value.detail.isascii()
    assert caught.value.detail.isprintable()
    return caught.value.detail.partition(";")[0]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_bot_is_sent_what_is_no_json(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        protocol.encode({"limit": number})


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"do":"play 1o"}\n',
        b'{"id": 7, "do": "play 1o"}\n',
        b'{"id":7,"do":"play 1o"}',
        b'{"id": 7, "do": "play 1o"}\r\n',
        b' {"do":"play 1o","id":7} \n',
        b'{"type":"do","id":7,"do":"play 1o","note":null,"thinking":[1,2.5,{"a":true}]}\n',
        b'{"id":7,"do":"\\u0070lay 1o"}\n',
    ],
)
def test_answer_in_any_json_shape_is_read(line: bytes) -> None:
    assert protocol.answer(line, 7) == protocol.Answer("play 1o", "")


def test_answer_note_is_kept_and_cut() -> None:
    line = json.dumps({"id": 0, "do": "pass", "note": "ñ" * 300}).encode()

    assert protocol.answer(line, 0) == protocol.Answer("pass", "ñ" * 200)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello\n", "not JSON (Expecting value at character 0)"),
        (b"\n", "not JSON (Expecting value at character 1)"),
        (b'{"id":7,"do":"play 1o"} x\n', "not JSON (Extra data at character 24)"),
        (b"[]\n", "a line must be one JSON object"),
        (b'"play 1o"\n', "a line must be one JSON object"),
        (b'{"do":"play 1o"}\n', '"id" must be the whole number of the request'),
        (b'{"id":true,"do":"play 1o"}\n', '"id" must be the whole number of the request'),
        (b'{"id":7.0,"do":"play 1o"}\n', '"id" must be the whole number of the request'),
        (b'{"id":"7","do":"play 1o"}\n', '"id" must be the whole number of the request'),
        (b'{"id":6,"do":"play 1o"}\n', '"id" is 6, but the request to answer is 7 (write one answer to each request)'),
        (b'{"id":7}\n', '"do" must be text, one of the "legal" list'),
        (b'{"id":7,"do":3}\n', '"do" must be text, one of the "legal" list'),
        (b'{"id":7,"do":"play 1o","note":3}\n', '"note" must be text'),
        (b'{"do":"play 1o","id":7,"id":7}\n', "the key 'id' appears twice in one object"),
        (b'{"id":7,"id":7,"do":"play 1o"}\n', "the key 'id' appears twice in one object"),
        (b'{"id":7,"do":"x","more":{"a":1,"a":2}}\n', "the key 'a' appears twice in one object"),
        (b'{"id":NaN,"do":"play 1o"}\n', "NaN is not JSON"),
        (b'{"id":7,"do":"play 1o","x":-Infinity}\n', "-Infinity is not JSON"),
        (b'{"id":7,"do":"play 1o","x":1e999999}\n', "a number is too large"),
        (b'{"id":7,"do":"x","n":' + b"9" * 60_000 + b"}\n", "a whole number of 60000 digits"),
        (b'{"id":7,"do":"\\ud800"}\n', "text with half of a surrogate pair"),
        (b'{"id":7,"do":"x","\\udfff":1}\n', "text with half of a surrogate pair"),
        (b'{"id":7,"do":"pl\\u0000ay"}\n', "text with a NUL character"),
        (b'{"id":7,"do":"pl\x00ay"}\n', "not JSON (Invalid control character at at character 16)"),
        (b'{"id":7,"do":"\xff"}\n', "byte 14 is not UTF-8"),
        (
            b'\xef\xbb\xbf{"id":7,"do":"play 1o"}\n',
            "not JSON (Unexpected UTF-8 BOM (decode using utf-8-sig) at character 0)",
        ),
        ('{"id":7,"do":"play 1o"}'.encode("utf-16"), "byte 0 is not UTF-8"),
        (b"[" * 32_000 + b"\n", None),
        (b'{"id":7,"do":"x","a":' + b"[" * 17 + b"]" * 17 + b"}\n", "nested deeper than 16"),
        (b'{"id":7,"do":"x"' + b" " * 65_536 + b"}\n", "a line may have 65536 bytes"),
    ],
)
def test_answer_that_is_no_protocol_is_a_fault_that_says_why(line: bytes, why: str | None) -> None:
    message = refused(line)

    if why is not None:  # It depends on the Python version which of two limits catches 32,000 brackets
        assert message.startswith(why)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 65_000 + b"\n",
        b"{" + b",".join(b'"%d":0' % i for i in range(6_000)) + b"}\n",
        b" " * 65_000 + b"\n",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    ],
    ids=["brackets", "keys", "blanks", "objects"],
)
def test_answer_as_long_as_may_be_and_hostile_is_refused(line: bytes) -> None:
    assert refused(line)


@given(st.binary(max_size=200))
def test_answer_of_any_bytes_is_an_answer_or_a_fault(line: bytes) -> None:
    fault: Fault | None = None
    try:
        protocol.answer(line, 1)
    except Fault as said:
        fault = said

    assert fault is None or fault.kind == "protocol"


GAME = engine.load("guinote")
ACTIONS = [*range(40), *range(52, 59), *range(60, 72)]
TEXTS = Texts(GAME)
TEXTS.legal(ACTIONS)


@pytest.mark.parametrize("form", ['{{"id": {}, "do": "{}"}}', '{{"id":{},"do":"{}"}}'])
def test_the_plain_form_of_an_answer_is_known_without_reading_it(form: str) -> None:
    for action in ACTIONS:
        text = GAME.action_text(action)
        line = form.format(17, text).encode()

        assert TEXTS.plain(line, 17) == action
        assert protocol.answer(line, 17) == protocol.Answer(text)


PIECES = [
    "{",
    "}",
    '"',
    ",",
    ":",
    " ",
    "\\",
    "\n",
    "\t",
    "\0",
    "id",
    "do",
    "note",
    '"id"',
    '"do"',
    "17",
    "1",
    "0",
    "-",
    "play 1o",
    "pass",
    "sing c",
    "ñ",
]


@given(
    st.sampled_from(ACTIONS),
    st.integers(0, 10**17),
    st.sampled_from(
        ['{{"id": {}, "do": "{}"}}', '{{"id":{},"do":"{}"}}', '{{"id": {},"do":"{}"}}', '{{"do":"{1}","id":{0}}}']
    ),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.sampled_from(["", *PIECES])), max_size=3),
    st.integers(-1, 1),
)
def test_what_is_known_without_reading_is_read_the_same(
    action: int, number: int, form: str, changes: list[tuple[int, int, str]], off: int
) -> None:
    text = form.format(number, GAME.action_text(action))
    for place, gone, replacement in changes:
        text = text[:place] + replacement + text[place + gone :]
    line = text.encode()

    action_number = TEXTS.plain(line, number + off)

    if action_number is not None:  # whatever the quick way takes, the careful one takes as well, and as the same
        assert protocol.answer(line, number + off) == protocol.Answer(GAME.action_text(action_number))


def test_ready_gives_the_name_cut() -> None:
    assert protocol.ready(b'{"type":"ready"}\n') == ""
    assert protocol.ready(b'{"type":"ready","name":"greedy"}\n') == "greedy"
    assert protocol.ready(json.dumps({"type": "ready", "name": "x" * 100}).encode()) == "x" * 60


@pytest.mark.parametrize(
    "line", [b"{}", b'{"type":"Ready"}', b'{"type":["ready"]}', b'{"type":"ready","name":1}', b'{"id":1,"do":"pass"}']
)
def test_ready_of_another_shape_is_a_fault(line: bytes) -> None:
    with pytest.raises(Fault):
        protocol.ready(line)


def test_lines_to_the_bot_are_what_the_protocol_says() -> None:
    hello = protocol.hello(
        game="partnership",
        revision=1,
        options={},
        seats=4,
        seat=2,
        sides=((0, 2), (1, 3)),
        boards=16,
        limits=Limits(),
        seed=812736,
    )
    act = protocol.act(1, ['{"e":"play","seat":0,"card":"4c"}'], '"play 1c","play 3c"', "2.980")
    end = protocol.end([], [70, 60, 70, 60])

    assert json.loads(hello) == {
        "type": "hello",
        "protocol": 1,
        "game": "partnership",
        "revision": 1,
        "options": {},
        "seats": 4,
        "seat": 2,
        "sides": [[0, 2], [1, 3]],
        "boards": 16,
        "limits": {"start_s": 5.0, "move_s": 0.5, "bank_s": 3.0, "memory_mb": 256},
        "seed": 812736,
    }
    assert json.loads(act) == {
        "type": "act",
        "id": 1,
        "events": [{"e": "play", "seat": 0, "card": "4c"}],
        "legal": ["play 1c", "play 3c"],
        "bank_s": 2.98,
    }
    assert json.loads(end) == {"type": "end", "events": [], "result": {"scores": [70, 60, 70, 60]}}
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in (hello, act, end))


def test_quoted_is_short_printable_and_harmless() -> None:
    assert quoted(b"\x1b[31mred\x00\xff\xc3\xb1") == r"\x1b[31mred\x00\\xff\xf1".replace(r"\\xff", r"\xff")
    assert quoted(b"a" * 300) == "a" * 200 + "... (300 bytes)"


def test_clock_spends_the_move_first_then_the_bank() -> None:
    clock = Clock(Limits(move_s=0.5, bank_s=1.0))

    for cpu_s, left_s in ((0.4, 1.0), (1.25, 0.25), (0.75, 0.0), (0.5, 0.0)):
        clock.spend(cpu_s)
        assert clock.bank_s == left_s
    assert clock.strikes == 0


def test_clock_passes_over_three_late_answers_within_the_noise_of_the_host() -> None:
    clock = Clock(Limits(move_s=0.5, bank_s=0.0), Noise(cpu=0.2))
    assert clock.upper_s == pytest.approx(0.6, abs=0.006)

    for strikes in (1, 2, 3):
        clock.spend(0.59)
        assert clock.strikes == strikes
    with pytest.raises(Fault, match=r"timeout: used 0.501 s of CPU for one answer \(limit 0.500 s\); 3 answers before"):
        clock.spend(0.501)


@pytest.mark.parametrize(
    "values",
    [
        {"move_s": 0},
        {"bank_s": -1},
        {"start_s": float("nan")},
        {"wall_factor": 0.5},
        {"memory_mb": "256"},
        {"move_s": True},
    ],
)
def test_limits_that_make_no_sense_are_refused(values: dict) -> None:
    with pytest.raises(ValueError, match="limit "):
        Limits(**values)
