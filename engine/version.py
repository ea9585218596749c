"""The version of the project, used by `tute --version`, `/version`, replays and the wheel."""

VERSION = "1.0.0"
