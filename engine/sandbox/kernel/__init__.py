"""What the kernel is asked to hold back: system calls, files, rights."""
