"""Restrictions by the kernel: system calls, files, rights."""
