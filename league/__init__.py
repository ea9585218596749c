"""The league: bots play matches, are rated and meet in tournaments; pages and API show it."""

import os

# Before anything loads numpy. Several processes share the cores of a league, and the threads of each would wait for one another by spinning: a fit
# of 256 bots then takes ten times as much of a core as by one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
