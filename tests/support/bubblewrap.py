"""bubblewrap, on which the tier `namespaces` of the sandbox is built: without it half of the sandbox would remain untested."""

from __future__ import annotations

from tests.support import debian

HOW_TO_GET_ONE = "Debian, Ubuntu: sudo apt-get install bubblewrap."


def find() -> str:
    """Return the path of `bwrap`, installed if this is allowed. Raise DidNotStart if there is none."""
    return debian.find("bubblewrap", debian.on_path("bwrap"), HOW_TO_GET_ONE)


if __name__ == "__main__":
    print(find())
