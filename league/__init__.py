"""The league: bots play matches, are rated and meet in tournaments; pages and an API show the results."""

import os

# Set before numpy is loaded. Several processes share the cores of a league, and the threads of each would wait for one another by spinning: fitting
# 256 bots would take ten times the CPU time of a single thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
