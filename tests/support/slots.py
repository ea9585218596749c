"""Generate the list of slots and the clone of `engine.match.data.Data` from its assignments: `python -m tests.support.slots` writes them.

A loop over the slots would take five times as long as a clone that is written out, and the compiler (mypyc) wants it written out too. Where and how a
slot begins determines how a clone gets it:

* assigned in `__init__` before the `return`: a clone gets its own from `__init__`;
* annotated `OwnList` or `OwnLists`: changed in place, so copied;
* `hand`: one of the copied hands;
* all others: shared, because they are replaced and never changed in place.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "engine" / "match" / "data.py"
WIDTH = 118


def fresh(text: str) -> str:
    """Return the text of the module with both generated parts brought up to date."""
    slots, begun = _assigned(text)
    names = textwrap.fill(", ".join(f'"{name}"' for name in sorted(slots)), WIDTH - 8)
    lines = [f"    __slots__ = (\n{textwrap.indent(names, ' ' * 8)},\n    )  # fmt: skip\n"]
    text = _between(text, "slots", "".join(lines))
    copied = {"OwnList": "self.{}[:]", "OwnLists": "[row[:] for row in self.{}]"}
    lines = [
        "    def clone(self) -> Self:\n",
        '        """An independent copy that records nothing. Cheap, for search."""\n',
        "        new = type(self)(self.game, self.seed, None, False, self.suit_map, True)\n",
    ]
    for name, kind in sorted(slots.items()):
        if name not in begun and name != "hand":
            lines.append(f"        new.{name} = {copied.get(kind, 'self.{}').format(name)}\n")
    lines += ["        new.hand = new.hands[self.turn]\n", "        return new\n", "\n"]
    return _between(text, "clone", "".join(lines))


def _assigned(text: str) -> tuple[dict[str, str], set[str]]:
    """Return the annotation of every slot ("" for none), and the slots that `__init__` also sets for a clone."""
    [data] = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == "Data"]
    slots: dict[str, str] = {}
    begun: set[str] = set()
    for method in data.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("__init__", "begin_deal"):
            for statement in method.body:
                if isinstance(statement, ast.If):
                    begun |= set(slots)
                for target, kind in _targets(statement):
                    if target in slots:
                        raise ValueError(f"the slot {target} has two beginnings")
                    slots[target] = kind
    return slots, begun


def _targets(statement: ast.stmt) -> list[tuple[str, str]]:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Attribute):
        return [(statement.target.attr, ast.unparse(statement.annotation))]
    if isinstance(statement, ast.Assign):
        return [(target.attr, "") for target in statement.targets if isinstance(target, ast.Attribute)]
    return []


def _between(text: str, what: str, content: str) -> str:
    before, begin, rest = text.partition(f"    # {what}: made by tests.support.slots\n")
    _, end, after = rest.partition(f"    # {what}: end\n")
    if not begin or not end:
        raise ValueError(f"{DATA} has no marks for {what}")
    return before + begin + content + end + after


if __name__ == "__main__":
    DATA.write_text(fresh(DATA.read_text(encoding="utf-8")), encoding="utf-8")
