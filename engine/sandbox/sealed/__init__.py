"""A bot that no clock of the host reaches: it sees its own CPU time, and what the referee tells it. Linux on x86-64 only.

The kernel maps the real clocks into every program that it starts (the vDSO), and a processor counts time by itself. So a bot
is not started from its program's file but from a copy of it that begins with a few instructions of ours (`program`, `code`):
they put clocks of our own in place of the kernel's (`vdso`), switch the time stamp counter off, and shut the system calls
that tell the time or wait for it (`calls`). Nothing of it needs a right, so it works in every tier and in every container.
"""
