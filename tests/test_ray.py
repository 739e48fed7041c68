"""The Ray engine on a real local cluster: the same bytes as in this process. A silent node does not stop a run."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from recombine.data import plan
from recombine.data.generate import run

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


class SilentRay(types.ModuleType):
    """A cluster of two nodes. The second takes the first task, dies, and its task never says a word."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.calls: list[tuple[object, ...]] = []
        self.waits = 0
        self.exceptions = types.SimpleNamespace(RayTaskError=RuntimeError, RayError=OSError)

    def is_initialized(self) -> bool:
        return True

    def nodes(self) -> list[dict[str, object]]:
        return [
            {"NodeID": "a", "Alive": True, "Resources": {"CPU": 1}},
            {"NodeID": "b", "Alive": not self.waits, "Resources": {}},
        ]

    def remote(self, **_how: object) -> object:
        ray = self

        def wrap(function: object) -> object:
            class Task:
                @staticmethod
                def remote(*words: object) -> int:
                    ray.calls.append((function, *words))
                    return len(ray.calls) - 1

            return Task

        return wrap

    def wait(self, references: list[int], num_returns: int, timeout: float) -> tuple[list[int], list[int]]:
        assert num_returns == 1
        assert timeout > 0
        self.waits += 1
        assert self.waits < 50, "the run waits for ever"
        able = [r for r in references if r > 0]
        return ([], references) if self.waits == 1 else (able[:1], references)

    def get(self, reference: int) -> object:
        function, *words = self.calls[reference]
        return function(*words)  # type: ignore[operator]


def test_a_silent_node_does_not_stop_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SHARD_ROWS", 4_000)
    made = plan.make_plan("scan", ("length",), seed=2)
    expected = run(made, tmp_path / "serial", engine="serial").manifest["fingerprint"]
    ray = SilentRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    assert run(made, tmp_path / "ray", engine="ray").manifest["fingerprint"] == expected
    assert len(ray.calls) > len(made.shards)
