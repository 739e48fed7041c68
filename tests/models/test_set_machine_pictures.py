"""The set machine with pictures instead of symbols: the camera, the eye's gradients, the two forward passes, learning, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import kernels
from recombine.abilities import Portraying
from recombine.data.datasets import load
from recombine.errors import FileError, UnknownName, UsageError
from recombine.models import set_machine_train
from recombine.models.machines import load_machine, train_machine
from recombine.models.set_machine import SetMachine, SetMachineConfig
from recombine.models.set_machine_actor import Moments, feature_count, forward, gradients, log_shares
from recombine.models.set_machine_camera import Camera
from recombine.models.set_machine_eye import (
    CODES,
    KINDS,
    SLOTS,
    even_slopes,
    eye_lines,
    glance,
    new_eye_parameters,
    unevenness,
)  # fmt: skip
from recombine.models.set_machine_finder import KERNEL_NAME, Parameters, find_together, new_desk, sheet_of
from recombine.models.set_machine_rows import Rows, Vocabulary, rows_of, rows_of_examples, vocabulary_of, walked
from recombine.models.set_machine_sight import (
    dressed,
    new_finder,
    new_sighted_actor,
    sighted_gradients,
    sighted_meanings,
    sighted_spread,
    undressed,
)  # fmt: skip
from recombine.models.set_machine_train import Lesson, moments_of, shares_of

SMALL: dict[str, object] = {
    "rows": 1_500, "batch": 64, "first": 16, "second": 8, "short_rows": 0, "middle_rows": 0, "sight": "pictures",
}  # fmt: skip


@pytest.fixture(scope="module")
def pictured() -> tuple[Vocabulary, Rows]:
    dataset = load("reascan", "all", "train", size=60)
    batches = list(dataset.batches())
    known = vocabulary_of(batches)
    return known, rows_of(batches, known, Camera(dataset.family))


def busy_finder(known: Vocabulary, rows: Rows) -> Parameters:
    """Random parameters with words that really do something."""
    parameters = new_finder(len(known.words) + 1, rows, np.random.default_rng(2))
    parameters["operation"] *= 10
    return parameters


def test_grid_families_draw_their_objects_one_by_one() -> None:
    family = load("reascan", "all", "train", size=1).family
    assert isinstance(family, Portraying)
    small, large, box = (family.portrait(size, "red", shape) for size, shape in ((1, "circle"), (4, "circle"), (4, "box")))
    assert small.shape == large.shape == box.shape == (64, 64, 3)
    assert small.dtype == np.uint8
    ink = [(picture < 255).any(2) for picture in (small, large, box)]
    assert ink[0].sum() < ink[1].sum()
    assert not ink[1][16:, :].any()  # an object stays in its cell
    assert ink[2][60:, :].any()  # a box covers four by four cells
    assert not isinstance(load("scan", "simple", "test").family, Portraying)


def test_rows_hold_pictures_and_no_attributes(pictured: tuple[Vocabulary, Rows]) -> None:
    known, rows = pictured
    assert rows.pictures is not None
    symbols = rows_of(load("reascan", "all", "train", size=60).batches(), known)
    there = symbols.objects[:, :, 0] >= 0
    assert len(rows.pictures) == len(np.unique(symbols.objects[there][:, :3], axis=0))
    assert np.array_equal(rows.objects[there][:, 0], rows.objects[there][:, 2])
    assert (rows.objects[there][:, 1] == 0).all()


def test_numbers_of_pictures_say_nothing() -> None:
    looks = [(size, color, shape) for size in (1, 2, 3, 4) for color in ("blue", "red") for shape in ("box", "circle")]
    family = load("gscan", None, "train", size=1).family
    first, second = Camera(family), Camera(family)
    numbers = first.numbers_of(looks)
    assert sorted(numbers) == list(range(len(looks)))
    assert list(numbers) != sorted(numbers)
    assert np.array_equal(numbers[::-1], second.numbers_of(looks[::-1]))  # nor does the order in which they are asked for
    assert np.array_equal(first.pictures(), second.pictures())


def test_columns_and_examples_show_the_same_pictures(pictured: tuple[Vocabulary, Rows]) -> None:
    known, rows = pictured
    examples = list(load("reascan", "all", "train", size=60))
    seen = rows_of_examples(examples, known, Camera(examples[0].family))
    for name in ("words", "lengths", "objects", "counts", "agents", "grid", "pictures"):
        assert np.array_equal(getattr(seen, name), getattr(rows, name)), name


def test_two_forward_passes_and_two_speeds_agree(pictured: tuple[Vocabulary, Rows]) -> None:
    known, rows = pictured
    order, meanings = np.arange(12), sighted_meanings(busy_finder(known, rows), rows, 0.0)

    def scores_of(is_compiled: bool) -> Any:
        scores = np.zeros((len(order), rows.objects.shape[1]))
        kernels.load(KERNEL_NAME, is_compiled).find_batch(order, sheet_of(rows), meanings, 0.0, new_desk(rows), scores)
        return scores

    plain = scores_of(False)
    assert np.array_equal(plain, scores_of(True))
    assert np.allclose(plain, find_together(meanings, rows, order, 0.0), rtol=1e-12, atol=0)
    assert plain.max() > 1e-6


def test_the_finders_gradients_are_the_slopes_of_its_loss(pictured: tuple[Vocabulary, Rows]) -> None:
    """The eye's included, and the price of uneven slots."""
    known, rows = pictured
    assert rows.pictures is not None
    pictures, order = rows.pictures, np.arange(6)
    shares = shares_of(Lesson(rows, rows, walked(rows), SetMachineConfig(sight="pictures"), 0), order)
    kernel = kernels.load(KERNEL_NAME, True)
    parameters = busy_finder(known, rows)
    words, even = len(known.words) + 1, 0.3

    def loss(grads: Any) -> float:
        scores, meanings = np.zeros(shares.shape), sighted_meanings(parameters, rows, 0.0)
        total: float = kernel.learn_batch(order, sheet_of(rows), meanings, 0.0, new_desk(rows), shares, scores, grads)
        return total + even * unevenness(glance(parameters, pictures).codes)

    grads = sighted_gradients(words, rows)
    loss(grads)
    slopes = sighted_spread(parameters, rows, 0.0, even, grads)
    rng = np.random.default_rng(3)
    for name, array in parameters.items():
        flat, strongest = array.reshape(-1), np.argsort(-np.abs(slopes[name]).reshape(-1))[:3]
        for place in [*strongest, *rng.integers(0, flat.size, 2)]:
            kept, step = flat[place], 1e-4
            flat[place] = kept + step
            above = loss(sighted_gradients(words, rows))
            flat[place] = kept - step
            below = loss(sighted_gradients(words, rows))
            flat[place] = kept
            assert (above - below) / (2 * step) == pytest.approx(slopes[name].reshape(-1)[place], rel=1e-3, abs=1e-7), name


def test_even_and_independent_slots_cost_least() -> None:
    count = KINDS**2
    even = np.zeros((count, SLOTS, KINDS))
    lump = even.copy()
    for picture in range(count):
        for slot in range(SLOTS):
            even[picture, slot, (picture // KINDS if slot % 2 else picture) % KINDS] = 1.0
            lump[picture, slot, 0] = 1.0
    assert unevenness(even) < unevenness(lump)
    assert np.isfinite(even_slopes(lump)).all()


def test_the_actors_gradients_go_through_the_slots(pictured: tuple[Vocabulary, Rows]) -> None:
    known, rows = pictured
    assert rows.pictures is not None
    order = np.arange(8)
    finder = busy_finder(known, rows)
    lesson = Lesson(rows, rows, walked(rows), SetMachineConfig(moments=4, sight="pictures"), 0)
    moments, right = moments_of(lesson, order, rows.objects[order, 0, 0].astype(np.int64), 0)
    weights = new_sighted_actor(len(known.words) + 1, "pictures", 6, (12, 6), np.random.default_rng(4))
    assert len(weights["feature"]) == feature_count(6, CODES)
    worn = dressed(weights, finder, rows)
    assert len(worn["feature"]) == feature_count(6, len(rows.pictures))
    slopes = undressed(gradients(worn, rows, order, moments, right)[2], finder, rows)

    def loss(asked: Moments) -> float:
        logs = log_shares(forward(dressed(weights, finder, rows), rows, order, asked).logits)
        return -float(logs[np.arange(len(right)), right].astype(np.float64).mean())

    flat = weights["feature"].reshape(-1)
    for place in np.argsort(-np.abs(slopes["feature"]).reshape(-1))[:4]:
        kept, step = flat[place], np.float32(1e-2)
        flat[place] = kept + step
        above = loss(moments)
        flat[place] = kept - step
        below = loss(moments)
        flat[place] = kept
        assert (above - below) / (2 * step) == pytest.approx(float(slopes["feature"].reshape(-1)[place]), rel=0.05, abs=2e-4)


def test_it_learns_a_small_problem(tmp_path: Path) -> None:
    """gSCAN's targets, from pixels; the file holds all that is needed to answer."""
    settings = {**SMALL, "rows": 16_000, "batch": 32, "even": 0.0}
    machine, _ = train_machine(
        "set-machine", settings, load("gscan", None, "train", size=3_000), tmp_path / "run", 0, lambda _line: None
    )
    assert isinstance(machine, SetMachine)
    dataset = load("gscan", None, "test", size=200)
    tests = rows_of(dataset.batches(), machine.known, Camera(dataset.family))
    _, cells = machine.run(tests, np.arange(200))
    assert (cells == walked(tests).targets).all(1).mean() > 0.6  # a guess finds one in ten
    examples = list(dataset)[:20]
    loaded = load_machine(tmp_path / "run")
    assert machine.answers(examples) == loaded.answers(examples)
    assert {line[0] for line in loaded.lines()} == set(machine.known.words)
    with pytest.raises(UsageError, match="these rows hold symbols"):
        machine.run(rows_of(dataset.batches(), machine.known), np.arange(2))


def test_a_killed_run_goes_on_and_ends_in_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load("gscan", None, "train", size=200)
    monkeypatch.setattr(set_machine_train, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(set_machine_train, "SAY_ROWS", 500)
    monkeypatch.setattr(set_machine_train, "WINDOW", 5)

    def stop(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_machine("set-machine", SMALL, rows, tmp_path / "a", 1, stop)
    train_machine("set-machine", SMALL, rows, tmp_path / "a", 1, lambda _line: None)
    train_machine("set-machine", SMALL, rows, tmp_path / "b", 1, lambda _line: None)
    assert (tmp_path / "a" / "machine.npz").read_bytes() == (tmp_path / "b" / "machine.npz").read_bytes()


def test_it_also_learns_without_the_targets_cell(tmp_path: Path) -> None:
    rows = load("reascan", "simple", "train", size=200)
    settings = {**SMALL, "rows": 400, "signal": "actions", "warm_rows": 100}
    machine, _ = train_machine("set-machine", settings, rows, tmp_path / "run", 0, lambda _line: None)
    assert len(machine.answers(list(load("reascan", "simple", "test", size=3)))) == 3


def test_bad_settings_and_files_are_refused(tmp_path: Path) -> None:
    rows = load("gscan", None, "train", size=20)

    def train(settings: dict[str, object]) -> None:
        train_machine("set-machine", {**SMALL, **settings}, rows, tmp_path / str(settings), 0, lambda _line: None)

    with pytest.raises(UnknownName, match=r"'photographs'.*symbols"):
        train({"sight": "photographs"})
    with pytest.raises(UsageError, match="sight = symbols"):
        train({"actor": "rules"})
    with pytest.raises(UsageError, match="draws its objects"):
        Camera(load("scan", "simple", "test").family)
    known, rng = Vocabulary(("circle", "the"), (), ()), np.random.default_rng(0)
    config = SetMachineConfig(first=4, second=4, sight="pictures")
    actor = new_sighted_actor(3, "pictures", 6, (4, 4), rng)
    machine = SetMachine(config, known, 6, new_eye_parameters(3, 12, rng), actor)
    machine.save(tmp_path)
    assert SetMachine.load(tmp_path).sizes() == machine.sizes()
    with pytest.raises(UsageError, match="12 numbers a picture"):
        machine.answers(list(load("gscan", None, "test", size=1)))
    SetMachine(SetMachineConfig(first=4, second=4), known, 6, machine.finder, actor).save(tmp_path)
    with pytest.raises(FileError, match="no set machine"):
        SetMachine.load(tmp_path)


def test_a_lexicon_speaks_of_slots() -> None:
    p = {name: np.zeros_like(array) for name, array in new_eye_parameters(4, 12, np.random.default_rng(0)).items()}
    p["operation"][1, 3] = p["operation"][2, 1] = p["operation"][3, 2] = 9.0
    p["column"][1] = -9.0
    p["column"][1, 5] = 9.0
    p["attribute"][2, 1] = 9.0
    p["value"][2, 1] = [-9.0, 9.0, *[-9.0] * (KINDS - 2)]
    p["tie"][3, 0, 0, 0] = -99.0
    assert {line[0]: (line[1], line[3]) for line in eye_lines(p, ("column", "red", "small"))} == {
        "column": ("relate", "column differs by 0"),
        "red": ("filter", "slot 2: value 2"),
        "small": ("compare", "slots 1"),
    }
