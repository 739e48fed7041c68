"""The Ray engine on a real local cluster: the same bytes as in this process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
from recombine.data import plan
from recombine.data.generate import run
plan.SHARD_ROWS = 4_000
made = plan.make_plan("scan", ("length",), seed=2)
out = {}
for engine in ("serial", "ray"):
    out[engine] = run(made, f"{sys.argv[1]}/{engine}", engine=engine, workers=2).manifest["fingerprint"]
print(json.dumps(out))
"""


@pytest.mark.slow
def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    prints = json.loads(done.stdout.splitlines()[-1])
    assert prints["serial"] == prints["ray"]
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / e).rglob("*.parquet")} for e in ("serial", "ray"))
    assert len(one) == 6
    assert one == two
