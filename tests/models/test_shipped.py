"""The machines that come with the package answer the splits whose training rows they learnt from, and no others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recombine.data.datasets import load
from recombine.models.shipped import HERE, machine_for, shipped, shipped_answers


def test_every_shipped_machine_loads_and_says_where_it_comes_from() -> None:
    assert {one.machine for one in shipped()} == {"sequence-machine", "set-machine", "kinship-machine"}
    for one in shipped():
        assert one.load().sizes()
        assert f"/{one.split}/" in one.part
        assert one.rows > 0
    folders = {path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {one.folder for one in shipped()}


@pytest.mark.parametrize(
    ("family", "split", "part", "least"),
    [
        ("scan", "length", "test", 20),
        ("nacs", "simple", "test", 20),
        ("scan", "addprim_jump", "test", 20),
        ("reascan", "c1", "test", 19),
        ("gscan", "visual", "test", 17),
        ("clutrr", "generalization_23", "test_k6", 19),
    ],
)
def test_answers_are_right(family: str, split: str, part: str, least: int) -> None:
    examples = (
        load(family, split, part).pick(range(20)) if family in ("scan", "nacs") else list(load(family, split, part, size=20))
    )
    answers = shipped_answers(examples)
    assert set(answers) == {example.id for example in examples}
    assert sum(example.score(answers[example.id]).value for example in examples) >= least


def test_rows_without_a_machine_get_no_answer() -> None:
    example = load("reascan", "all", "test", size=1, grid_size=7)[0]
    assert machine_for(example) is None
    assert shipped_answers([example, load("clutrr", "generalization_234", "train", size=1)[0]]) == {}
    assert machine_for(load("scan", "template_right", "test").pick([0])[0]) is None
    own = load("scan", "hold_out", "test", predicate="any(repeat) = thrice").pick([0])[0]
    assert machine_for(own) is None  # another predicate, other training rows
    usual = load("scan", "hold_out", "test").pick([0])[0]
    assert machine_for(usual) is not None
    assert machine_for(load("scan", "simple", "test", seed=1).pick([0])[0]) is None  # may be a training row of seed 0
    assert machine_for(load("scan", "length", "test", seed=1).pick([0])[0]) is not None


def test_shipped_answers_need_no_torch_and_no_compiler() -> None:
    program = (
        "import sys\nfrom recombine.data.datasets import load\nfrom recombine.models.shipped import shipped_answers\n"
        "print(len(shipped_answers(list(load('reascan', 'a1', 'test', size=5)))), {'torch', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "5 set()"
