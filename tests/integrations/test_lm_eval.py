"""lm-evaluation-harness runs every family from the task files that we ship."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

from recombine.families import OURS
from recombine.integrations import path_of
from recombine.integrations.lm_eval.make import files

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_task_files_are_those_of_the_families() -> None:
    folder = path_of("lm-eval")
    assert {p.name: p.read_text() for p in folder.glob("*.yaml")} == files()
    assert {f"recombine_{name}.yaml" for name in OURS} < set(files())


@pytest.mark.parametrize("share", [1.0, 0.0])
def test_a_model_is_evaluated(share: float) -> None:
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Scripted(LM):  # type: ignore[misc]
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            return [f"So.\n\nAnswer: {r.doc['answer']}" if share else "Answer: lol" for r in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(path_of("lm-eval")), include_defaults=False, metadata={"size": 3})
    found = simple_evaluate(Scripted(), tasks=["recombine"], task_manager=manager, bootstrap_iters=0, log_samples=True)
    for name in OURS:
        assert found["results"][f"recombine_{name}"]["exact,none"] == share
        assert len(found["samples"][f"recombine_{name}"]) == 3
    assert found["groups"]["recombine"]["exact,none"] == share
    assert Path(path_of("lm-eval")).is_dir()
