"""Open the playground in a browser: look at worlds, answer them, change them, and run studies with people.

    recombine serve                                   # http://127.0.0.1:8765, for this machine only
    recombine serve --folder results --folder data    # data sets, released files and answers in these folders
    recombine serve --studies people.sqlite           # studies, kept in one file
    recombine serve --host 0.0.0.0 --token WORD       # for other machines; researchers need the token

Needs `pip install "recombine[serve]"`.
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine serve`."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8765, help="the port (default 8765)")
    parser.add_argument(
        "--token", default="", help="the token that researchers must enter; needed with --host, at least 16 characters"
    )
    parser.add_argument(
        "--folder", action="append", default=[], metavar="DIR", help="a folder whose files may be opened; may be repeated"
    )
    parser.add_argument(
        "--studies", metavar="FILE", help="the SQLite file in which studies are kept; made if it does not exist"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    import secrets
    import sys
    from pathlib import Path

    from recombine.cli.printing import say
    from recombine.errors import UsageError, shown

    if not 0 < arguments.port < 65536:
        raise UsageError(f"--port is {shown(arguments.port)}, but must be a number from 1 to 65535.")
    from recombine.serve.server import bound, serve
    from recombine.serve.settings import Settings
    from recombine.serve.studies.store import Store

    secret = secrets.token_bytes(32)
    if arguments.studies:
        store = Store(Path(arguments.studies))
        secret = store.secret()
        store.close()
    settings = Settings(
        host=arguments.host,
        port=arguments.port,
        token=arguments.token,
        folders=tuple(Path(folder) for folder in arguments.folder),
        studies=Path(arguments.studies) if arguments.studies else None,
        secret=secret,
    )
    name = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    listening = bound(settings)
    say(f"the playground is at http://{name}:{arguments.port} (Ctrl-C ends it)")
    sys.stdout.flush()
    serve(settings, listening)
    return 0
