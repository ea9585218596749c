"""Print, as JSON, which control groups this user may make: for tests that ask as another user."""

import json

from engine.sandbox import cgroups

if __name__ == "__main__":
    found = cgroups.here()
    print(json.dumps({"name": found.name, "note": found.note}))
