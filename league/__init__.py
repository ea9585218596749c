"""The league: bots play matches, are rated and meet in tournaments; pages and an API show the results."""

import os

# Before anything loads numpy. Several processes share the cores of a league, and the threads of each would wait for one another by spinning: a fit of
# 256 bots then takes ten times the CPU time of a single thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
