"""Ray on two nodes: a worker killed, a node lost, the driver killed. The bytes are always those of one process.

python benchmarks/ray_faults.py [worker node driver] [--local]

Two raylets on this machine form a cluster of two nodes. Each has a network of its own (a namespace with an address), joined by a
virtual cable; a lost node is a cut cable. Where namespaces may not be made, or with --local, both share this machine's network.
They share a folder, as nodes of a cluster do.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import secrets
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


NETWORK = ("10.213.77.1", "10.213.77.2")
"""The addresses of the two nodes in their own network."""
PORT = "6391"


class Local:
    """Two nodes that share this machine's network."""

    name = "one network"

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        self.other = self.cluster.add_node(num_cpus=1)
        self.cluster.wait_for_nodes()
        self.address: str = self.cluster.address

    def inside(self, words: list[str]) -> list[str]:
        """The command that runs these words on the first node."""
        return words

    def raylets(self) -> list[int]:
        """The processes that start workers."""
        nodes = (self.cluster.head_node, self.other)
        return [raylet.process.pid for node in nodes for raylet in node.all_processes.get("raylet", [])]

    def lose_node(self) -> None:
        """The second node is gone at once."""
        self.cluster.remove_node(self.other, allow_graceful=False)

    def shutdown(self) -> None:
        """End both."""
        self.cluster.shutdown()


class Apart:
    """Two nodes in network namespaces of their own, joined by a virtual cable."""

    name = "two networks"

    def __init__(self) -> None:
        self.spaces = tuple(f"recombine-{os.getpid()}-{k}" for k in range(2))
        cables = tuple(f"rc{os.getpid() % 100_000}{letter}" for letter in "ab")
        self.address = f"{NETWORK[0]}:{PORT}"
        for space in self.spaces:
            _call("ip", "netns", "add", space)
        _call("ip", "link", "add", cables[0], "type", "veth", "peer", "name", cables[1])
        for space, cable, address in zip(self.spaces, cables, NETWORK, strict=True):
            _call("ip", "link", "set", cable, "netns", space)
            for words in (
                ("addr", "add", f"{address}/24", "dev", cable),
                ("link", "set", cable, "up"),
                ("link", "set", "lo", "up"),
            ):
                _call("ip", "-n", space, *words)
        self.cable = cables[1]
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # Ray asks for one across machines
        head = ("--head", f"--port={PORT}", "--include-dashboard=false")
        for space, address, role in zip(self.spaces, NETWORK, (head, (f"--address={self.address}",)), strict=True):
            ray = str(Path(sys.executable).with_name("ray"))
            _call("ip", "netns", "exec", space, ray, "start", f"--node-ip-address={address}", "--num-cpus=1", *role)

    def inside(self, words: list[str]) -> list[str]:
        """The command that runs these words on the first node."""
        return ["ip", "netns", "exec", self.spaces[0], *words]

    def raylets(self) -> list[int]:
        """The processes that start workers."""
        return [pid for space in self.spaces for pid in _pids(space) if "raylet" in Path(f"/proc/{pid}/comm").read_text()]

    def lose_node(self) -> None:
        """The cable of the second node is cut: nobody tells the first one."""
        _call("ip", "-n", self.spaces[1], "link", "set", self.cable, "down")

    def shutdown(self) -> None:
        """End everything that runs in the two networks, and the networks."""
        for space in self.spaces:
            for pid in _pids(space):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            _call("ip", "netns", "del", space)
        noted = Path(tempfile.gettempdir(), "ray", "ray_current_cluster")  # a killed cluster leaves its address for the next
        if noted.exists() and noted.read_text().strip() == self.address:
            noted.unlink()


def _call(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _pids(space: str) -> list[int]:
    return [int(word) for word in _call("ip", "netns", "pids", space).split()]


def may_make_networks() -> bool:
    """Whether this user may make network namespaces."""
    probe = f"recombine-probe-{os.getpid()}"
    try:
        _call("ip", "netns", "add", probe)
        _call("ip", "netns", "del", probe)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def started(cluster: Local | Apart, out: Path) -> subprocess.Popen[bytes]:
    """A driver, once its first shards are there."""
    words = cluster.inside([sys.executable, "-c", PROGRAM, str(out), "ray", cluster.address])
    process = subprocess.Popen(words, start_new_session=True)
    began = time.monotonic()
    while len(list(out.glob("length/*.parquet"))) < 3 and process.poll() is None and time.monotonic() - began < WAIT_SECONDS:
        time.sleep(0.02)
    return process


def workers(cluster: Local | Apart) -> list[int]:
    """The worker processes of these nodes, and of no other cluster on this machine."""
    found: list[int] = []
    for pid in cluster.raylets():
        words = ["pgrep", "-P", str(pid), "-f", "ray::(IDLE|_make_remote)"]
        found += map(int, subprocess.run(words, capture_output=True, text=True, check=False).stdout.split())
    return found


def main() -> int:
    """Exit 1 if a single byte differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", default=["worker", "node", "driver"])
    parser.add_argument("--local", action="store_true", help="no network namespaces")
    given = parser.parse_args()
    os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
    kind = Local if given.local or not may_make_networks() else Apart
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-c", PROGRAM, f"{scratch}/whole", "serial"], check=True)
        expected = tree(Path(scratch, "whole"))
        for fault in given.faults:
            cluster = kind()
            try:
                code, same = tried(cluster, fault, Path(scratch, fault), expected)
            finally:
                cluster.shutdown()
            wrong += code != 0 or not same
            print(f"{cluster.name}, {fault} lost: exit {code}, {'same bytes' if same else 'DIFFERENT'}", flush=True)
    return 1 if wrong else 0


def tried(cluster: Local | Apart, fault: str, out: Path, expected: dict[str, str]) -> tuple[int, bool]:
    """Exit code of a run with this fault, and whether it left the right bytes."""
    process = started(cluster, out)
    if fault == "worker":
        doomed = workers(cluster)
        assert doomed, "no worker is running"
        for number in doomed:
            os.kill(number, signal.SIGKILL)
    elif fault == "node":
        cluster.lose_node()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait(WAIT_SECONDS)
    if fault == "driver":
        assert code != 0
        words = cluster.inside([sys.executable, "-c", PROGRAM, str(out), "ray", cluster.address])
        code = subprocess.run(words, check=False).returncode
    return code, tree(out) == expected


if __name__ == "__main__":
    sys.exit(main())
