"""The version of the project: `tute --version`, `/version`, the replays and the wheel all take it from here."""

VERSION = "1.0.0"
