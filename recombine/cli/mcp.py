"""Serve episodes of lilGym, gSCAN, ReaSCAN and abstract tasks as tools for any MCP client: begin, look, act, explain.

    recombine mcp                          # over standard input and output
    recombine mcp --http 127.0.0.1:8000    # over HTTP

Needs `pip install "recombine[mcp]"`.
"""

from __future__ import annotations

import argparse
import re


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine mcp`."""
    parser.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP (default: standard input and output)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    from recombine.errors import UsageError, shown
    from recombine.integrations.mcp import server

    if arguments.http is None:
        server().run(show_banner=False)
        return 0
    host, _, port = arguments.http.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        raise UsageError(f"--http is {shown(arguments.http)}, but must be HOST:PORT, such as 127.0.0.1:8000.")
    server().run(transport="http", host=host, port=int(port), show_banner=False)
    return 0
