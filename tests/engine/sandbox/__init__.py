"""Tests of the sandbox; some of their modules are run as programs by another user."""
