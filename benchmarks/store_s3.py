"""Folders in an S3 store: the bytes of a local run, kills and resumes, damage found. Starts a server of its own on this machine.

python benchmarks/store_s3.py --kills 10        # needs: pip install 'moto[server]' s3fs
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import sys
from recombine.data import plan, engines
plan.SHARD_ROWS = 1_000
from recombine.cli import main
sys.exit(main(sys.argv[1:]))
"""


def local_tree(folder: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def main() -> int:
    """Exit 1 if a single byte differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0)
    server.start()
    _host, port = server.get_host_and_port()
    address = f"http://127.0.0.1:{port}"
    settings = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "FSSPEC_S3_ENDPOINT_URL": address,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    os.environ.update(settings)
    import s3fs

    system = s3fs.S3FileSystem(endpoint_url=address, use_listings_cache=False)
    system.mkdir("bucket")

    def stored(prefix: str) -> dict[str, str]:
        return {key[len(prefix) + 1 :]: hashlib.sha256(system.cat_file(key)).hexdigest() for key in system.find(prefix)}

    words = [sys.executable, "-c", PROGRAM, "generate", "scan", "--split", "simple", "--out"]
    dice, wrong = random.Random(0), 0
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([*words, f"{scratch}/a"], check=True, stdout=subprocess.DEVNULL)
        expected = local_tree(Path(scratch, "a"))
        started = time.perf_counter()
        subprocess.run([*words, "s3://bucket/a"], check=True, stdout=subprocess.DEVNULL)
        length = time.perf_counter() - started
        wrong += stored("bucket/a") != expected
        print(f"an unbroken run of {len(expected)} objects takes {length:.1f} s; same bytes: {not wrong}", flush=True)
        kills = 0
        while kills < given.kills:
            process = subprocess.Popen([*words, "s3://bucket/b"], stdout=subprocess.DEVNULL, start_new_session=True)
            try:
                process.wait(timeout=dice.uniform(0.5, length))
                system.rm("bucket/b", recursive=True)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
                halves = [name for name, mark in stored("bucket/b").items() if name in expected and expected[name] != mark]
                if halves:
                    wrong += 1
                    print("HALVES", halves)
        subprocess.run([*words, "s3://bucket/b"], check=True, stdout=subprocess.DEVNULL)
        wrong += stored("bucket/b") != expected
        print(f"{kills} kills: {'same bytes' if stored('bucket/b') == expected else 'DIFFERENT'}", flush=True)
    verify = [sys.executable, "-m", "recombine", "verify"]
    wrong += subprocess.run([*verify, "s3://bucket/b"], check=False).returncode != 0
    system.pipe_file(next(key for key in system.find("bucket/b") if key.endswith(".parquet")), b"PAR1 damaged")
    wrong += subprocess.run([*verify, "s3://bucket/b"], check=False, stdout=subprocess.DEVNULL).returncode != 1
    server.stop()
    print("in order" if not wrong else f"{wrong} WRONG")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
