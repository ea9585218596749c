"""Print, as JSON, which control groups this user may make: for tests that ask as another user."""

import json

from engine.sandbox.cgroups import groups

if __name__ == "__main__":
    kind = groups.available()
    print(json.dumps({"name": kind.name, "note": kind.note}))
