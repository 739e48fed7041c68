"""Ray on two nodes: a worker killed, a node lost, the driver killed. The bytes are always those of one process.

python benchmarks/ray_faults.py [worker node driver]

Two raylets on this machine form a cluster of two nodes (`ray.cluster_utils`); they share a folder, as nodes of a cluster do.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = """
import sys, warnings
warnings.simplefilter("ignore")
from recombine.data import plan
from recombine.data.generate import run
plan.SHARD_ROWS = 500
made = plan.make_plan("scan", ("length",), seed=2)
engine, address = sys.argv[2], (sys.argv[3] if len(sys.argv) > 3 else None)
run(made, sys.argv[1], engine=engine, address=address)
"""
WAIT_SECONDS = 300


def tree(folder: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def started(out: Path, address: str) -> subprocess.Popen[bytes]:
    """A driver, once its first shards are there."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(out), "ray", address], start_new_session=True)
    began = time.monotonic()
    while len(list(out.glob("length/*.parquet"))) < 3 and process.poll() is None and time.monotonic() - began < WAIT_SECONDS:
        time.sleep(0.02)
    return process


def workers(nodes: list[Any]) -> list[int]:
    """The worker processes of these nodes, and of no other cluster on this machine."""
    found: list[int] = []
    for node in nodes:
        for raylet in node.all_processes.get("raylet", []):
            words = ["pgrep", "-P", str(raylet.process.pid), "-f", "ray::(IDLE|_make_remote)"]
            found += map(int, subprocess.run(words, capture_output=True, text=True, check=False).stdout.split())
    return found


def main() -> int:
    """Exit 1 if a single byte differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", default=["worker", "node", "driver"])
    given = parser.parse_args()
    os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
    from ray.cluster_utils import Cluster

    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-c", PROGRAM, f"{scratch}/whole", "serial"], check=True)
        expected = tree(Path(scratch, "whole"))
        for fault in given.faults:
            cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
            other = cluster.add_node(num_cpus=1)
            cluster.wait_for_nodes()
            out = Path(scratch, fault)
            process = started(out, cluster.address)
            if fault == "worker":
                doomed = workers([cluster.head_node, other])
                assert doomed, "no worker is running"
                for number in doomed:
                    os.kill(number, signal.SIGKILL)
            elif fault == "node":
                cluster.remove_node(other, allow_graceful=False)
            else:
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait(WAIT_SECONDS)
            if fault == "driver":
                assert code != 0
                code = subprocess.run([sys.executable, "-c", PROGRAM, str(out), "ray", cluster.address], check=False).returncode
            same = tree(out) == expected
            wrong += code != 0 or not same
            print(f"{fault} lost: exit {code}, {'same bytes' if same else 'DIFFERENT'}", flush=True)
            cluster.shutdown()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
