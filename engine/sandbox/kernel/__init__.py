"""Restrictions that the kernel enforces: system calls, files, rights."""
