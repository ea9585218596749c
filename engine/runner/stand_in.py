"""A stand-in: the bot that sits at the other seats of an audit. It knows no game, and works and sleeps on command.

The referee sends `hello` and gets `ready`. Every further line holds four whole numbers: how often to read the text of `hello`, how many bytes of
memory to read, how many microseconds to sleep, and how many threads to start. The answer is an empty line. A bot has no clock by which it could work
for a given CPU time.
"""

import json
import sys
import threading
import time

BLOCK = bytearray(1 << 20)


def main() -> None:
    """Answer every line."""
    hello = sys.stdin.buffer.readline()
    print('{"type":"ready"}', flush=True)
    for line in sys.stdin.buffer:
        times, size, sleep_us, threads = map(int, line.split())
        sum(BLOCK[:size:64])  # Push the memory of others out of the processor's caches, as bots do.
        for _ in range(times):
            json.loads(hello)
        for _ in range(threads):
            thread = threading.Thread()
            thread.start()
            thread.join()
        if sleep_us:
            time.sleep(sleep_us / 1e6)
        print(flush=True)


if __name__ == "__main__":
    main()
