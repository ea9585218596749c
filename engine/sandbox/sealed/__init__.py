"""Sealed bots: bots without access to any clock of the host. They see their own CPU time, and what the referee sends. Linux on x86-64 only.

The kernel maps the real clocks into every program that it starts (the vDSO), and a processor has a counter of its own. So a sealed bot starts from a
copy of its program that begins with a few instructions of ours (`program`, `code`): they replace the kernel's clocks by ours (`vdso`), switch the
time stamp counter off, and block the system calls that tell the time or wait for it (`calls`). None of this needs a privilege, so it works in every
tier and in every container.
"""
