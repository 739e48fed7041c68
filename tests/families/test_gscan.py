"""Facts and laws of gSCAN: the grammar, the published sizes, the sound recipe's promises, splits, files, answers."""

from __future__ import annotations

import dataclasses
import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from recombine import kernels
from recombine.core import Batch, Claim, Example, Job, Part, Problem
from recombine.errors import BadOption, FileError, Infeasible, UsageError
from recombine.families.gscan import GSCAN as gscan
from recombine.families.gscan import native, oracle, oracle_claims, oracle_reader, splits
from recombine.families.gscan import oracle_fields as claims
from recombine.families.gscan.generate import KERNEL_NAME, ROLES
from recombine.families.gscan.plan import commands, parse_command
from recombine.families.gscan.release import pool as release
from recombine.grid.matching import Phrase, fitting
from recombine.grid.play import replay
from recombine.grid.render import picture
from recombine.jobs import make_job

PARTS = [(split, part) for split, entry in gscan.SPLITS.items() for part in entry.parts]
CASES = [(split, part, recipe) for split, part in PARTS for recipe in gscan.SPLITS[split].recipes]
PUBLISHED = {
    "visual": 37_436, "visual_easier": 18_718, "situational_1": 88_642, "situational_2": 16_808, "contextual": 11_460,
    "adverb_1": 112_880, "adverb_2": 38_582,
}  # fmt: skip


def rows(split: str, part: str, recipe: str = "sound", n: int = 200, seed: int = 1, **options: object) -> Batch:
    job = make_job(gscan, split, part, recipe, seed, options)
    return gscan.generate(job.rows(0, min(n, job.stop)))


def examples(batch: Batch) -> list[Example]:
    return [gscan.example(batch, row) for row in range(len(batch))]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    for name in (KERNEL_NAME, release.KERNEL_NAME):
        kernels.load(name, compiled=True)


# --- the grammar -----------------------------------------------------------------------------------------------------


def test_there_are_675_commands() -> None:
    texts = [str(command) for command in commands()]
    assert len(set(texts)) == 675
    assert all(command.number == i and parse_command(str(command)) == command for i, command in enumerate(commands()))
    assert "walk to a red big cylinder while spinning" in texts
    assert parse_command("walk,to,a,red,big,cylinder,while spinning").tokens[-1] == "while spinning"
    assert Counter(command.template for command in commands()) == {
        "shape": 45, "color,shape": 180, "size,shape": 90, "size,color,shape": 360,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "walk", "walk to a big red square", "jump to a square", "walk to a box", "x" * 10_000])
def test_other_texts_are_no_commands(text: str) -> None:
    with pytest.raises(UsageError, match="no gSCAN command"):
        parse_command(text)
    assert oracle_reader.read_command(text) is None


def test_oracle_reads_every_command_as_the_grammar_means_it() -> None:
    for command in commands():
        reading = oracle_reader.read_command(str(command))
        assert reading is not None
        phrase = command.phrase
        assert (reading.verb, reading.manner) == (command.verb, command.adverb)
        assert (reading.size, reading.color, reading.noun) == (phrase.size, phrase.color, phrase.shape)
        assert native.derivation(command) == claims.derivation(reading)
        assert oracle_claims._number(str(command)) == command.number


# --- the original's data set -----------------------------------------------------------------------------------------


def test_published_sizes_are_reproduced_exactly() -> None:
    for split, size in PUBLISHED.items():
        assert make_job(gscan, split, "test", "release").stop == size
    assert make_job(gscan, "compositional", "train", "release").stop == 367_933
    assert make_job(gscan, "compositional", "validation", "release").stop == 3_716
    assert len(release.specifications(6, 1)) == 56


def test_release_test_drops_what_training_has() -> None:
    sizes = [make_job(gscan, "compositional", "test", "release", seed).stop for seed in (0, 1)]
    assert all(18_900 < size < 19_700 for size in sizes), sizes  # published: 19,282 of 41,294
    job = make_job(gscan, "compositional", "test", "release", 0)
    train = make_job(gscan, "compositional", "train", "release", 0)
    forms = [
        {
            (r["command"], tuple(r["actions"]), r["object_rows"][0], r["object_columns"][0])
            for r in map(batch.row, range(len(batch)))
        }
        for batch in (gscan.generate(job.rows(0, 1500)), gscan.generate(train.rows(0, 6000)))
    ]
    assert not forms[0] & forms[1]


def test_release_distractors_follow_the_original_rule() -> None:
    for row in map((batch := rows("compositional", "train", "release", 600)).row, range(len(batch))):
        objects = list(zip(row["object_colors"], row["object_shapes"], strict=True))
        target = objects[0]
        wanted = {"shape": 2, "color,shape": 6, "size,shape": 12, "size,color,shape": 12}[row["template"]]
        assert len(objects) == wanted == row["object_count"]
        assert target not in objects[2:] if row["size_word"] else target not in objects[1:]
        if row["size_word"]:
            assert objects[1] == target
            pairs = [objects[i : i + 2] for i in range(2, 12, 2)]
            assert all(a == b for a, b in pairs)
            assert len({a for a, _ in pairs}) == 5


def test_release_reproduces_the_necessity_figures() -> None:
    """The ReaSCAN paper, section 3: both words needed in 62.7 %, colour alone 25.2 %, shape alone 10.6 %, either 1.4 %."""
    figures = gscan.survey(examples(rows("visual_easier", "test", "release", 4000)))["necessity"]["yellow square"]
    expected = {"both_needed": 0.627, "color_suffices": 0.252, "shape_suffices": 0.106, "either_suffices": 0.014}
    assert figures["examples"] == 4000
    for name, share in expected.items():
        assert abs(figures[name] - share) < 0.025, (name, figures[name])


def test_release_cells_are_shared_between_commands() -> None:
    pool = release.pool(1, 6, 1, 5)
    same = np.flatnonzero((pool.items[:, 1] == 2) & (pool.items[:, 2] == 1) & (pool.items[:, 0] // 15 % 3 == 0))
    assert len({int(state) for state in pool.cell_states[same]}) == 56
    assert len(same) == 56 * 15 * 6  # six phrases fit: bare, small, big, each with and without the colour
    assert len(set(pool.states.tolist())) == len(pool.items)


def test_rows_beyond_the_end_are_an_error() -> None:
    job = make_job(gscan, "contextual", "test", "release")
    with pytest.raises(UsageError, match="smaller size"):
        gscan.generate(job.rows(0, job.stop + 1))


# --- the sound recipe ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("split", "part", "recipe"), CASES)
def test_oracle_finds_no_error(split: str, part: str, recipe: str) -> None:
    problems = [
        p for _, p in gscan.validate_batch(rows(split, part, recipe, 250)) if p.severity == "error" or recipe == "sound"
    ]
    assert problems == []


@pytest.mark.parametrize(("split", "part", "recipe"), CASES)
def test_both_speeds_give_the_same_bytes(split: str, part: str, recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = rows(split, part, recipe, 12)
    monkeypatch.setattr(kernels, "is_loaded", lambda name: False)
    slow = rows(split, part, recipe, 12)
    assert [fast.row(i) for i in range(12)] == [slow.row(i) for i in range(12)]
    assert fast.rejections == slow.rejections


def test_every_word_is_needed_and_chance_is_flat() -> None:
    found = gscan.survey(examples(rows("compositional", "train", n=3000)))
    assert found["words_needed"] == {"size": 1.0, "color": 1.0, "shape": 1.0}
    chances = [entry["chance_accuracy"] for entry in found["chance"].values()]
    assert len(chances) == 4
    assert max(chances) - min(chances) < 0.006
    assert found["nearest_object"] < 0.16
    guesses = found["guess_without_command"]
    assert guesses["shape"] == 0.5
    assert guesses["color,shape"] < 0.35
    assert guesses["size,shape"] < 0.34
    assert guesses["size,color,shape"] < 0.26
    counts = [found["directions"][d] for d in ("n", "ne", "e", "se", "s", "w", "nw")]
    assert "sw" not in found["directions"]
    assert max(counts) - min(counts) < 130
    assert abs(found["moving"] - 0.8) < 0.03


def test_release_shows_the_artifacts_that_sound_mends() -> None:
    found = gscan.survey(examples(rows("compositional", "train", "release", 3000)))
    assert found["words_needed"]["color"] < 0.7
    assert found["chance"]["shape"]["chance_accuracy"] == 0.5
    assert found["chance"]["size,color,shape"]["chance_accuracy"] == round(1 / 12, 4)
    codes = {p.code for _, p in gscan.validate_batch(rows("compositional", "train", "release", 300))}
    assert codes == {"needless_word", "only_candidate", "two_readings"}


def test_sound_decoys_catch_their_reader() -> None:
    role = {"size": "size decoy", "color": "color decoy", "shape": "shape decoy"}
    for example in examples(rows("compositional", "test", n=150)):
        phrase, world = example.plan.phrase, example.world
        for kind, name in role.items():
            decoys = [i for i, t in enumerate(world.things) if t.role == name]
            assert bool(decoys) == bool(getattr(phrase, kind))
            if decoys:
                heard = Phrase(**{**phrase.__dict__, kind: ""})
                assert {0, *decoys} <= set(fitting(world, heard, "superlative"))
        assert {t.role for t in world.things} <= set(ROLES)


@pytest.mark.parametrize("share", [0.0, 0.35, 1.0])
def test_interaction_is_a_dial(share: float) -> None:
    batch = rows("compositional", "train", n=1500, interaction=share)
    moved = [row["cells_moved"] > 0 for row in map(batch.row, range(len(batch))) if row["verb"] != "walk"]
    assert abs(np.mean(moved) - share) < (0.05 if 0 < share < 1 else 1e-9)


@pytest.mark.parametrize("split", ["contextual", "adverb_2"])
def test_splits_about_moving_always_move(split: str) -> None:
    batch = rows(split, "test", n=200, interaction=0.1)
    assert min(batch.row(i)["cells_moved"] for i in range(200)) > 0
    example = next(e for e in examples(rows("adverb_2", "test", n=5)))
    still = dataclasses.replace(example, meta={**example.meta, "split": "contextual"})
    assert "wrong_split" in {p.code for p in still.validate()}


@pytest.mark.parametrize("grid", [4, 5, 8, 20])
@pytest.mark.parametrize("recipe", list(gscan.RECIPES))
def test_other_grid_sizes(grid: int, recipe: str) -> None:
    batch = rows("compositional", "train", recipe, 60, 1, grid_size=grid, resampling=1)
    assert [p for _, p in gscan.validate_batch(batch) if p.severity == "error"] == []
    assert {batch.row(0)["grid_size"]} == {grid}
    assert max(max(batch.row(i)["object_rows"]) for i in range(60)) > grid // 2


def test_too_many_objects_for_the_grid_is_an_error() -> None:
    with pytest.raises(BadOption, match="holds at most"):
        rows("compositional", "train", n=5, grid_size=4, max_objects=20)
    crowded = rows("compositional", "train", n=200, grid_size=8, max_objects=28)
    assert max(crowded.row(i)["object_count"] for i in range(200)) > 24
    assert list(gscan.validate_batch(crowded)) == []


# --- splits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", list(gscan.RECIPES))
def test_shots_and_held_out_adverb(recipe: str) -> None:
    batch = rows("compositional", "train", recipe, 60, k=7)
    adverbs = [batch.row(i)["adverb"] for i in range(60)]
    assert [adverb == "cautiously" for adverb in adverbs] == [True] * 7 + [False] * 53
    none = rows("compositional", "train", recipe, 60, k=0)
    if recipe == "sound":
        assert [batch.row(i) for i in range(7, 60)] == [none.row(i) for i in range(7, 60)]
    assert "cautiously" not in {none.row(i)["adverb"] for i in range(60)}
    if recipe == "release":
        assert make_job(gscan, "adverb_1", "test", recipe, options={"k": 7}).stop == 112_881 - 7


@pytest.mark.parametrize("recipe", list(gscan.RECIPES))
def test_target_lengths(recipe: str) -> None:
    for part, is_long in (("train", False), ("validation", False), ("test", True)):
        batch = rows("target_lengths", part, recipe, 200, cutoff=12)
        assert {(batch.row(i)["action_count"] > 12) for i in range(200)} == {is_long}


def test_a_cutoff_that_no_sequence_passes_is_an_error() -> None:
    with pytest.raises(Infeasible, match="another cutoff"):
        rows("target_lengths", "test", n=1, cutoff=200)


def test_parts_share_nothing_whatever_the_seed() -> None:
    def cells(part: str, seed: int) -> set[tuple[object, ...]]:
        batch = rows("compositional", part, n=3000, seed=seed)
        keys = ("command", "agent_row", "agent_column")
        return {(*(r[k] for k in keys), r["object_rows"][0], r["object_columns"][0]) for r in map(batch.row, range(len(batch)))}

    train, validation, test = cells("train", 1), cells("validation", 2), cells("test", 3)
    assert not train & validation
    assert not train & test
    assert not validation & test


def test_aliases_lead_to_the_one_training_part() -> None:
    job = make_job(gscan, "visual", "train")
    assert (job.split, job.part) == ("compositional", "train")


def test_canonical_words_follow_the_canonical_form() -> None:
    batch = rows("compositional", "test", n=40)
    words = gscan.canonical_batch(batch)
    assert len(set(words.tolist())) == len({gscan.canonical(e) for e in examples(batch)}) == 40
    first = examples(batch)[0]
    shuffled = dataclasses.replace(first.world, things=first.world.things[::-1])
    assert gscan.canonical(dataclasses.replace(first, world=shuffled)) == gscan.canonical(first)


# --- laws are enforced -----------------------------------------------------------------------------------------------


def changed(example: Example, **world: object) -> list[str]:
    """Codes that the oracle finds once the world is changed (and what a model sees with it)."""
    from recombine.grid.world import inputs_of

    other = dataclasses.replace(example.world, **world)
    inputs = {"command": example.inputs["command"], **inputs_of(other)}
    return [p.code for p in gscan.validate(dataclasses.replace(example, world=other, inputs=inputs))]


def test_oracle_names_what_is_wrong() -> None:
    pool = examples(rows("compositional", "train", n=400))
    sized = next(e for e in pool if e.plan.template == "size,color,shape" and e.meta["verb"] == "walk")
    things = sized.world.things
    free = next(
        (r, c)
        for r in range(6)
        for c in range(6)
        if sized.world.thing_at(r, c) is None and (r, c) != (sized.world.row, sized.world.column)
    )
    twin = dataclasses.replace(things[0], row=free[0], column=free[1], role="random")
    assert "ambiguous" in changed(sized, things=(*things, twin))
    rival = next(i for i, t in enumerate(things) if t.role == "size decoy")
    swapped = (things[rival], *(t for i, t in enumerate(things) if i != rival))
    assert {"wrong_target", "wrong_label"} <= set(changed(sized, things=swapped))
    no_decoy = tuple(t for t in things if t.role in ("target", "size decoy"))
    assert "needless_word" in changed(sized, things=no_decoy)
    assert "agent_on_object" in changed(sized, row=things[0].row, column=things[0].column)
    assert "bad_world" in changed(sized, heading="north")
    wrong = dataclasses.replace(sized, answer=sized.answer + ",walk")
    assert {p.code for p in gscan.validate(wrong)} == {"wrong_label", "wrong_field"}
    assert [p.code for p in gscan.validate(dataclasses.replace(sized, inputs={"command": "sing"}))] == ["bad_command"]
    for name, value in (("direction", "xx"), ("cells_moved", 3), ("template", "shape")):
        found = gscan.validate(dataclasses.replace(sized, meta={**sized.meta, name: value}))
        assert [p.code for p in found] == ["wrong_field"]
    moved = gscan.validate(dataclasses.replace(sized, meta={**sized.meta, "split": "visual", "part": "test"}))
    assert [p.code for p in moved] == ["wrong_split"]
    moved = gscan.validate(dataclasses.replace(sized, meta={**sized.meta, "part": "test"}))
    assert [p.code for p in moved] == ["wrong_split"]
    hidden = {**sized.inputs, "objects": sized.inputs["objects"][1:]}
    assert [p.code for p in gscan.validate(dataclasses.replace(sized, inputs=hidden))] == ["inputs_differ"]


def test_oracle_and_simulator_agree_on_noise() -> None:
    """Two simulators that share no code, on random actions in random worlds."""
    from recombine.keys import Stream

    for i, example in enumerate(examples(rows("target_lengths", "test", n=80))):
        stream = Stream("noise", i)
        actions = [stream.choice(("walk", "push", "pull", "stay", "turn left", "turn right", "walk")) for _ in range(60)]
        actions = list(example.answer.split(","))[: stream.below(20)] + actions
        outcome = replay(example.world, actions)
        complaints, at, where = oracle.run(example.world, actions)
        assert len(complaints) == len(outcome.failures)
        assert at == (outcome.world.row, outcome.world.column)
        assert {cell: i for i, t in enumerate(outcome.world.things) for cell in [(t.row, t.column)]} == where


# --- explanations and scores -----------------------------------------------------------------------------------------


def test_explanations_prove_and_name_shortcuts() -> None:
    for example in examples(rows("compositional", "test", n=60)):
        found = example.explain()
        ruled_out = [step for step in found.steps if "ruled out by" in step]
        assert len(ruled_out) == len(example.world.things) - 1
        assert not any(step.endswith("ruled out by .") for step in found.steps)
        answers = {s.name: s.answer for s in found.shortcuts}
        for kind in ("size", "color", "shape"):
            assert (answers[f"ignores_{kind}"] is not None) == bool(getattr(example.plan.phrase, kind))


def test_scores_name_the_mistake_and_the_cell() -> None:
    named: Counter[str] = Counter()
    for example in examples(rows("compositional", "test", n=120)):
        assert example.score(example.answer.replace(",", ", ").upper()).value == 1.0
        for shortcut in example.explain().shortcuts:
            if shortcut.answer and shortcut.answer != example.answer:
                verdict = example.score(shortcut.answer)
                assert verdict.status == "wrong"
                assert shortcut.name in verdict.mistakes
                named[shortcut.name] += 1
                keeps_cell = shortcut.name in ("ignores_adverb", "only_walks", "swaps_push_and_pull", "vertical_first")
                if keeps_cell:
                    assert verdict.detail["target_cell"]
                if shortcut.name in ("ignores_size", "ignores_color", "ignores_shape", "opposite_size"):
                    assert not verdict.detail["target_cell"]
        detour = "turn left,turn right," + example.answer
        verdict = example.score(detour)
        assert verdict.value == 0.0
        assert verdict.detail["target_cell"]
        assert verdict.detail["end_state"]
    assert all(named[name] for name in gscan_readers()), named


def gscan_readers() -> list[str]:
    from recombine.families.gscan.explain import READERS

    return list(READERS)


def test_a_decoy_reached_by_another_way_is_still_that_mistake() -> None:
    wrong = 0
    for example in examples(rows("compositional", "test", n=60)):
        answer = next(s.answer for s in example.explain().shortcuts if s.name == "ignores_shape")
        assert answer is not None
        if answer != example.answer:
            assert "ignores_shape" in example.score("stay," + answer).mistakes
            wrong += 1
    assert wrong > 30


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", list(gscan.RECIPES))
def test_native_files_hold_everything(recipe: str, tmp_path: Path) -> None:
    batches = [rows(split, part, recipe, 30) for split, part in PARTS if split not in ("target_lengths", "hold_out")]
    path = tmp_path / "dataset.txt"
    with path.open("w") as out:
        gscan.write(iter(batches), out)
    document = json.loads(path.read_text())
    assert set(document["examples"]) == set(native.SECTIONS)
    assert document["nouns"] == {"square": "square", "cylinder": "cylinder", "circle": "circle"}
    back = list(gscan.read(path))
    assert all(isinstance(example, Example) for example in back)
    written = [example for batch in batches for example in examples(batch)]
    assert len(back) == len(written) == 30 * 10
    for ours, theirs in zip(written, back, strict=True):
        assert isinstance(theirs, Example)
        assert gscan.canonical(ours) == gscan.canonical(theirs)
        assert ours.answer == theirs.answer
        assert ours.meta["split"] == theirs.meta["split"]
        assert [p for p in theirs.validate() if p.severity == "error"] == []


def test_spoilt_rows_become_problems(tmp_path: Path) -> None:
    out = io.StringIO()
    gscan.write(iter([rows("compositional", "train", n=9)]), out)
    document = json.loads(out.getvalue())
    listed = document["examples"]["train"]
    listed[1] = 7
    listed[2]["command"] = "fly"
    listed[3]["situation"]["grid_size"] = 10**9
    del listed[4]["situation"]["target_object"]
    listed[5]["target_commands"] = "walk,dance"
    listed[6]["situation"]["placed_objects"]["0"]["position"]["row"] = "99"
    listed[7]["situation"]["placed_objects"]["1"]["object"]["shape"] = ["box"]
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(document))
    found = list(gscan.read(path))
    assert [isinstance(item, Problem) for item in found] == [False, *[True] * 7, False]
    assert {item.code for item in found if isinstance(item, Problem)} == {"malformed"}
    assert [item.place for item in found if isinstance(item, Problem)] == [f"train[{i}]" for i in range(1, 8)]


def test_wrong_claims_of_a_file_are_found(tmp_path: Path) -> None:
    out = io.StringIO()
    gscan.write(iter([rows("visual", "test", "release", 4)]), out)
    document = json.loads(out.getvalue())
    listed = document["examples"]["visual"]
    listed[0]["manner"] = "sadly"
    listed[1]["target_commands"] += ",walk"
    listed[2]["derivation"] = "NP -> NN"
    document["examples"]["adverb_2"] = [listed.pop()]
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(document))
    codes = [[p.code for p in e.validate() if p.severity == "error"] for e in gscan.read(path) if isinstance(e, Example)]
    assert codes == [["wrong_field"], ["wrong_label"], ["wrong_field"], ["wrong_split"]]


@pytest.mark.parametrize("index", ["²", "٣", "9" * 5_000, "", "-1"])
def test_an_index_that_is_no_number_is_that_of_no_shot(index: str) -> None:
    """Ids of files by others may end in anything."""
    example = gscan.example(rows("compositional", "train", n=1), 0)
    assert list(example.validate()) == []
    moved = dataclasses.replace(example, id=f"{example.id.rpartition('/')[0]}/{index}")
    assert [problem.code for problem in moved.validate()] == ["wrong_split"]


def test_a_file_without_held_out_sections_owes_them_nothing(tmp_path: Path) -> None:
    out = io.StringIO()
    gscan.write(iter([rows("target_lengths", "train", n=200)]), out)
    path = tmp_path / "dataset.txt"
    path.write_text(out.getvalue())
    assert [p.code for e in gscan.read(path) if isinstance(e, Example) for p in e.validate() if p.severity == "error"] == []


def test_vocabularies_and_predictions(tmp_path: Path) -> None:
    pool = examples(rows("compositional", "train", n=300))
    words, actions = native.vocabularies(pool)
    assert words["idx_to_word"][:3] == ["<PAD>", "<SOS>", "<EOS>"]
    assert len(words["idx_to_word"]) == 3 + 3 + 2 + 4 + 2 + 3 + 4
    assert len(actions["idx_to_word"]) == 9
    assert sum(actions["word_frequencies"].values()) == sum(e.meta["action_count"] for e in pool)
    path = tmp_path / "predict.json"
    with path.open("w") as out:
        native.write_predictions([(e, e.answer if i % 2 else "walk") for i, e in enumerate(pool[:20])], out)
    stored = json.loads(path.read_text())
    assert [entry["exact_match"] for entry in stored][1::2] == [True] * 10
    back = list(native.read_predictions(gscan, path))
    assert [answer for _, answer in back[1::2]] == [e.answer for e in pool[1:20:2]]
    assert all(gscan.canonical(a) == gscan.canonical(b) for (a, _), b in zip(back, pool, strict=False))
    path.write_text('[{"input": 3}]')
    with pytest.raises(FileError, match="no prediction"):
        list(native.read_predictions(gscan, path))


# --- pictures, small jobs --------------------------------------------------------------------------------------------


def test_what_models_see_hides_the_target() -> None:
    example = examples(rows("compositional", "test", n=3))[2]
    reordered = dataclasses.replace(example, world=dataclasses.replace(example.world, things=example.world.things[::-1]))
    assert example.render("text") == reordered.render("text")
    assert picture(example, show_answer=False).png() == example.render("png")
    assert "target" not in picture(example, show_answer=False).svg()
    assert "target" in str(example.render("svg"))


def test_ids_and_slices() -> None:
    whole = rows("compositional", "train", n=40)
    job: Job = whole.job
    tail = gscan.generate(job.rows(17, 40))
    assert [whole.row(i) for i in range(17, 40)] == [tail.row(i) for i in range(23)]
    assert gscan.example(tail, 0).id == "gscan@1/sound/compositional/train/1/000017"


# --- a split from outside --------------------------------------------------------------------------------------------


def _blue_cylinders(monkeypatch: pytest.MonkeyPatch, claim: Claim) -> None:
    """Hold out targets that are blue cylinders: one entry in SPLITS, one in CLAIMS."""
    parts = {name: Part(name, "", 1_000) for name in ("train", "validation", "test")}
    split = splits.GscanSplit(
        "blue_cylinder", "In training no target is a blue cylinder.", parts, shows=lambda s: (s.shape == 1) & (s.color == 1)
    )
    monkeypatch.setitem(splits.SPLITS, split.name, split)  # type: ignore[misc]
    monkeypatch.setitem(oracle_claims.CLAIMS, split.name, claim)  # type: ignore[misc]


@pytest.mark.parametrize("recipe", list(gscan.RECIPES))
def test_a_split_is_one_entry_and_one_claim(monkeypatch: pytest.MonkeyPatch, recipe: str) -> None:
    _blue_cylinders(monkeypatch, oracle_claims.own_claim(lambda world, _: world.things[0].name == "blue cylinder"))
    for part in ("train", "validation", "test"):
        batch = rows("blue_cylinder", part, recipe, 120)
        assert {e.world.things[0].name == "blue cylinder" for e in examples(batch)} == {part == "test"}
        assert [p for _, p in gscan.validate_batch(batch) if p.severity == "error"] == []
    test = examples(rows("blue_cylinder", "test", recipe, 20))
    for example in test:
        moved = dataclasses.replace(example, meta={**example.meta, "part": "train"})
        assert "wrong_split" in [p.code for p in gscan.validate(moved)]


def test_a_false_claim_and_a_missing_one_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _blue_cylinders(monkeypatch, oracle_claims.own_claim(lambda world, _: world.things[0].name == "green circle"))
    assert {p.code for _, p in gscan.validate_batch(rows("blue_cylinder", "test", "sound", 20))} == {"wrong_split"}
    monkeypatch.delitem(oracle_claims.CLAIMS, "blue_cylinder")  # type: ignore[misc]
    assert {p.code for _, p in gscan.validate_batch(rows("blue_cylinder", "test", "sound", 20))} == {"unjudged_split"}


def test_a_malformed_row_is_a_problem_of_that_row() -> None:
    batch = rows("compositional", "train", n=5)
    texts = [str(batch.columns["command"][row]) for row in range(5)]
    texts[2] = "sing"
    damaged = dataclasses.replace(batch, columns={**batch.columns, "command": texts})
    assert [(row, p.code) for row, p in gscan.validate_batch(damaged)] == [(2, "bad_command")]
    assert len(gscan.canonical_batch(damaged)) == 5


def test_length_claim_reads_the_cutoff() -> None:
    example = examples(rows("target_lengths", "test", n=3))[0]
    moved = dataclasses.replace(example, meta={**example.meta, "part": "train"})
    assert "wrong_split" in [p.code for p in gscan.validate(moved)]


@pytest.mark.parametrize("size", [1, 4])
def test_a_held_out_extreme_size_leaves_no_object_of_another_world(size: int) -> None:
    """Nothing is bigger than size 4: a world drawn around a small object of size 4 read beyond the tables."""
    job = make_job(gscan, "hold_out", "test", options={"predicate": f"target.size = {size}"})
    for example in [gscan.example(batch, row) for batch in [gscan.generate(job.rows(0, 6))] for row in range(6)]:
        assert example.validate() == []
        assert example.world.things[0].size == size
