"""`tute verify-certificate`: check a certificate of a league."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.cli.output import command, json_flag, print_json
from engine.cli.problem import FAILED, OK
from engine.client import League, address_of

EXAMPLE = """
tute verify-certificate first-cup-0.json --key https://tute.example
tute verify-certificate first-cup-0.json --key key.pem
"""
DETAILS = """
Checks that the league has signed the certificate, and prints what it says. With the address of the league its public key is downloaded; with a file
(/certificates/key.pem of the league) nothing is. Needs an extra: pip install 'tute-league[certificates]'.

exit codes:
  0  the league has signed the certificate as it is
  1  it is forged, changed or damaged
  3  the key cannot be downloaded
"""
KEY = "/certificates/key.pem"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "verify-certificate", "check a certificate of a league", EXAMPLE, DETAILS)
    parser.add_argument("file", type=Path, metavar="FILE", help="the certificate (.json)")
    parser.add_argument("--key", required=True, metavar="URL|FILE", help="address of the league, or its public key")
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Check the certificate and print its fields. Return exit code 1 if it is not valid."""
    from engine import certificates

    is_address = args.key.startswith(("http://", "https://"))
    try:
        key = _download(args.key) if is_address else _read(Path(args.key))
        fields = certificates.check(_read(args.file), key)
    except certificates.CertificateError as error:
        if args.json:
            print_json({"problem": str(error)})
        else:
            print(error)
        return FAILED
    if args.json:
        print_json(fields)
    else:
        for name, value in fields.items():
            print(f"{name.replace('_', ' ')}: {value}")
    return OK


def _download(address: str) -> bytes:
    # Over http somebody on the way could send another key.
    return League(address_of(address)).ask("GET", KEY).body


def _read(path: Path) -> bytes:
    from engine.certificates import LARGEST

    with path.open("rb") as file:
        return file.read(LARGEST)
