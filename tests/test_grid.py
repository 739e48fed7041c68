"""Laws of the grid: matching against brute force, plans that replay, two speeds with the same bits, pictures, documents."""

from __future__ import annotations

import io
import itertools
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from recombine import kernels, keys
from recombine.errors import FileError, UsageError
from recombine.grid import codes, tensor
from recombine.grid.canvas import Canvas
from recombine.grid.describe import ascii_map, describe
from recombine.grid.documents import read_document, write_document
from recombine.grid.draw import draw
from recombine.grid.graph import relation_graph
from recombine.grid.matching import Description, Phrase, bindings, edges, fitting, misfits, referents, related
from recombine.grid.play import parse_actions, plan, replay, trail
from recombine.grid.world import Thing, World, action_column, directions, inputs_of, world_columns, world_of

NAME = "recombine.grid.kernel"


def a_world(stream: keys.Stream, size: int = 6, boxes: bool = True) -> World:
    """A random possible world whose object 0 is no box."""
    things: list[Thing] = []
    taken: set[tuple[bool, int, int]] = set()
    wanted = 1 + stream.below(min(14, size * size - 2))
    while len(things) < wanted:
        shape = stream.choice(codes.SHAPES if boxes and things else codes.SHAPES[:3])
        k = 1 + stream.below(min(4, size))
        room = size - k + 1 if shape == "box" else size
        row, column = stream.below(room), stream.below(room)
        if (shape == "box", row, column) not in taken:
            taken.add((shape == "box", row, column))
            role = "target" if not things else stream.choice(("pivot", "random", "odd"))
            things.append(Thing(k, stream.choice(codes.COLORS), shape, row, column, role))
    while True:
        row, column = stream.below(size), stream.below(size)
        if (False, row, column) not in taken:
            return World(size, tuple(things), row, column, stream.choice(codes.HEADINGS))


def worlds(n: int, *name: str, size: int = 6) -> list[World]:
    return [a_world(keys.Stream("grid test", *name, i), size) for i in range(n)]


# --- kernels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
def test_bits(compiled: bool) -> None:
    kernel = kernels.load(NAME, compiled)
    for word in [0, 1, 2, 3, 5, 0x55555555, (1 << 31) - 1, 1 << 30, *(keys.mix(i) & 0x7FFFFFFF for i in range(200))]:
        ones = [i for i in range(31) if word >> i & 1]
        assert kernel.popcount(word) == len(ones)
        assert [kernel.nth(word, k) for k in range(len(ones))] == ones
        if ones:
            assert kernel.lowest(word) == ones[0]


@pytest.mark.parametrize("grid", [1, 2, 6, 8, 24])
def test_free_cells_are_drawn_uniformly_and_only_if_free(grid: int) -> None:
    kernel = kernels.load(NAME, compiled=False)
    board = np.zeros(grid, dtype=np.int64)
    rng = np.array([keys.state("free", grid)], dtype=np.uint64)
    seen = set()
    for left in range(grid * grid, 0, -1):
        assert kernel.count_free(board, grid) == left
        cell = int(kernel.draw_free(board, grid, rng))
        assert cell not in seen
        seen.add(cell)
        kernel.put(board, cell // grid, cell % grid)
    assert kernel.draw_free(board, grid, rng) == -1
    if grid == 2:
        board[:] = [1, 0]
        counts = np.bincount([kernel.draw_free(board, grid, rng) for _ in range(3000)], minlength=4)
        assert counts[0] == 0
        assert all(900 < n < 1100 for n in counts[1:])


def brute_force(world: World, description: Description, reading: str) -> tuple[int, ...]:
    found = set()
    fits = [fitting(world, phrase, reading) for phrase in description.phrases]
    for chosen in itertools.product(*fits):
        if len(set(chosen)) == len(chosen) and all(
            related(description.relations[k], world.things[chosen[description.parents[k]]], world.things[chosen[k]])
            for k in range(1, len(chosen))
        ):
            found.add(chosen[0])
    return tuple(sorted(found))


def a_description(stream: keys.Stream) -> Description:
    n = 1 + stream.below(4)
    phrases = tuple(
        Phrase(stream.choice(codes.SIZE_WORDS), stream.choice(("", "", *codes.COLORS)), stream.choice(("", "", *codes.SHAPES)))
        for _ in range(n)
    )
    parents = (-1, *(stream.below(k) for k in range(1, n)))
    return Description(phrases, parents, ("", *(stream.choice(codes.RELATIONS) for _ in range(1, n))))


def test_matching_equals_brute_force() -> None:
    hits = 0
    for i, world in enumerate(worlds(250, "match")):
        stream = keys.Stream("descriptions", i)
        description = a_description(stream)
        reading = stream.choice(("pairwise", "superlative"))
        expected = brute_force(world, description, reading)
        assert referents(world, description, reading) == expected
        assert tuple(sorted({b[0] for b in bindings(world, description, reading, 10**6)})) == expected
        hits += bool(expected)
    assert hits > 30


def test_size_words() -> None:
    world = World(6, tuple(Thing(s, "red", "circle", 0, i) for i, s in enumerate((1, 2, 4))), 5, 5)
    small, big = Phrase("small", "", "circle"), Phrase("big", "", "circle")
    assert fitting(world, small, "superlative") == (0,)
    assert fitting(world, small, "pairwise") == (0, 1)
    assert fitting(world, big, "superlative") == (2,)
    assert fitting(world, big, "pairwise") == (1, 2)
    lone = World(6, world.things[:1], 5, 5)
    assert fitting(lone, small, "superlative") == (0,)
    assert fitting(lone, small, "pairwise") == ()


def test_inside_counts_anchors_only() -> None:
    box = Thing(2, "blue", "box", 1, 1)
    inside = [Thing(4, "red", "circle", r, c) for r, c in ((1, 1), (1, 2), (2, 2))]
    outside = [Thing(4, "red", "square", r, c) for r, c in ((0, 1), (3, 2), (2, 3))]
    other = Thing(4, "green", "box", 2, 1)
    world = World(6, (*inside, *outside, other, box), 5, 5)
    description = Description((Phrase(), Phrase("", "blue", "box")), (-1, 0), ("", "inside"))
    assert referents(world, description, "pairwise") == (0, 1, 2, 6)
    inner = [(a, b) for a, b, r in edges(world, ("inside",))]
    assert (6, 7) in inner
    assert (7, 6) not in inner


def test_misfits_name_the_word() -> None:
    world = World(6, (Thing(1, "red", "circle", 0, 0), Thing(2, "red", "circle", 0, 1), Thing(1, "blue", "square", 0, 2)), 5, 5)
    phrase = Phrase("small", "red", "circle")
    assert misfits(world, phrase, 0, "superlative") == ()
    assert misfits(world, phrase, 1, "superlative") == ("small",)
    assert misfits(world, phrase, 2, "superlative") == ("red", "circle")


# --- planner and simulator -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 6, 8, 11])
def test_every_plan_replays(size: int) -> None:
    for world in worlds(25, "plans", str(size), size=size):
        target = world.things[0]
        for verb, adverb in itertools.product(codes.VERBS, codes.ADVERBS):
            actions = plan(world, 0, verb, adverb)
            assert len(actions) <= 20 * size + 8
            outcome = replay(world, actions)
            assert outcome.failures == ()
            end = outcome.world
            assert (end.row, end.column) == (end.things[0].row, end.things[0].column)
            assert outcome.reached == (target.row, target.column)
            assert [(t.row, t.column) for t in end.things[1:]] == [(t.row, t.column) for t in world.things[1:]]
            if verb == "walk":
                assert (end.row, end.column) == (target.row, target.column)
            else:
                assert replay(end, (verb, verb)).failures, "the object could go on"
            assert parse_actions(",".join(actions)) == actions


def test_adverbs_as_the_data_have_them() -> None:
    world = World(6, (Thing(3, "red", "square", 2, 2),), 2, 1)
    assert plan(world, 0, "walk", "cautiously") == ("turn left", "turn right", "turn right", "turn left", "walk")
    assert plan(world, 0, "walk", "while spinning") == (*["turn left"] * 4, "walk")
    assert plan(world, 0, "walk", "hesitantly") == ("walk", "stay")
    assert plan(world, 0, "push", "") == ("walk", *["push"] * 6)
    assert plan(world, 0, "pull", "hesitantly") == ("walk", "stay", *["pull", "stay"] * 4)
    light = World(6, (Thing(2, "red", "square", 4, 4),), 1, 3, "west")
    assert plan(light, 0, "walk", "") == ("turn left", "turn left", "walk", "turn right", "walk", "walk", "walk")
    zigzag = World(6, (Thing(2, "red", "square", 2, 3),), 0, 0)
    assert plan(zigzag, 0, "walk", "while zigzagging") == (
        "walk", "turn right", "walk", "turn left", "walk", "turn right", "walk", "turn left", "walk",
    )  # fmt: skip


def test_heavy_objects_need_two_efforts_in_one_direction() -> None:
    world = World(6, (Thing(4, "red", "square", 2, 2),), 2, 2)
    assert replay(world, ("push",)).world.things[0].column == 2
    assert replay(world, ("push", "turn left", "turn right", "stay", "push")).world.things[0].column == 3
    assert replay(world, ("push", "pull")).world.things[0].column == 2
    assert replay(world, ("push", "pull", "pull")).world.things[0].column == 1
    apart = World(6, (*world.things, Thing(1, "blue", "circle", 2, 5)), 2, 2)
    assert replay(apart, ("push",) * 6).failures == ("action 5 (push): blocked", "action 6 (push): blocked")
    assert replay(apart, ("walk", "push")).failures == ("action 2 (push): nothing",)
    assert replay(apart, ("walk",) * 4).failures == ("action 4 (walk): wall",)
    assert trail(apart, ("walk", "walk", "turn left", "walk")) == ((2, 2), (2, 3), (2, 4), (1, 4))


def test_boxes_block_nothing() -> None:
    world = World(6, (Thing(1, "red", "square", 2, 2), Thing(2, "blue", "box", 2, 3)), 2, 1)
    assert plan(world, 0, "push", "") == ("walk", "push", "push", "push")
    assert replay(world, plan(world, 0, "push", "")).failures == ()


def test_both_speeds_give_the_same() -> None:
    slow, fast = kernels.load(NAME, False), kernels.load(NAME, True)
    for i, world in enumerate(worlds(40, "speeds")):
        things, n, agent = world.arrays()
        stream = keys.Stream("speeds", i)
        noise = np.array([stream.below(6) for _ in range(60)], dtype=np.int64)
        results = []
        for kernel in (slow, fast):
            t, a = things.copy(), agent.copy()
            board, out = np.zeros(6, dtype=np.int64), np.zeros(128, dtype=np.int64)
            kernel.fill_board(board, 6, t, n)
            m = kernel.plan(board, 6, a, t[0], i % 3, i % 5, out)
            heading = kernel.arrival(a, t[0], i % 5)
            failed = kernel.replay(t, n, board, 6, a, noise, len(noise))
            results.append((out[:m].tolist(), int(heading), t.tolist(), a.tolist(), board.tolist(), int(failed)))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("walk,turn left", ("walk", "turn left")),
        (" Walk, TURN_LEFT\nstay ", ("walk", "turn left", "stay")),
        ("", ()),
        ("left", None),
        ("turn", None),
        ("turn around", None),
        ("walk; rm -rf /", None),
        ("walk" * 10_000, None),
    ],
)
def test_action_texts(text: str, found: tuple[str, ...] | None) -> None:
    assert parse_actions(text) == found


# --- worlds, columns, tensors ----------------------------------------------------------------------------------------


def test_columns_hold_the_world() -> None:
    many = worlds(30, "columns")
    most = max(len(w.things) for w in many)
    things, roles = np.zeros((30, most, 5), dtype=np.int8), np.zeros((30, most), dtype=np.int8)
    counts, agents = np.zeros(30, dtype=np.int64), np.zeros((30, 3), dtype=np.int64)
    names = ("target", "pivot", "random", "odd")
    for i, world in enumerate(many):
        array, n, agent = world.arrays()
        things[i, :n], counts[i], agents[i] = array[:n], n, agent[:3]
        roles[i, :n] = [names.index(t.role) for t in world.things]
    columns = world_columns(6, things, counts, agents, roles, names)
    for i, world in enumerate(many):
        assert world_of({name: column[i] for name, column in columns.items()}) == world
    made = tensor.tensors(6, things, counts, agents, tensor.REASCAN)
    assert made.shape == (30, 6, 6, 17)
    for i, world in enumerate(many):
        assert (made[i] == tensor.tensor(world, tensor.REASCAN)).all()
    seen = [codes.DIRECTIONS[c] for c in directions(agents, things)]
    assert seen == [w.direction_to(w.things[0]) for w in many]
    assert action_column(np.array([[0, 4, 9], [5, 9, 9]]), np.array([2, 1]))[0] == ["walk", "turn left"]


def test_vectors_as_released() -> None:
    assert tensor.GSCAN.vector(Thing(2, "red", "cylinder", 0, 0)) == "01000101000"
    assert tensor.GSCAN.depth == 16
    assert tensor.REASCAN.vector(Thing(3, "blue", "box", 0, 0)) == "001000010100"


def test_inputs_do_not_give_the_target_away() -> None:
    world = worlds(1, "inputs")[0]
    reversed_world = World(world.size, world.things[::-1], world.row, world.column, world.heading)
    assert inputs_of(world) == inputs_of(reversed_world)
    assert describe(world) == describe(reversed_world)
    assert "role" not in json.dumps(inputs_of(world))
    assert draw(world).svg() != draw(world, show_roles=True).svg()


def test_impossible_worlds_are_named() -> None:
    bad = World(6, (Thing(4, "red", "box", 4, 4), Thing(1, "red", "circle", 0, 0), Thing(2, "blue", "square", 0, 0)), 9, 0)
    assert len(bad.problems) == 3
    with pytest.raises(UsageError, match="cannot be acted in"):
        plan(bad, 1, "walk", "")
    assert World(6, (Thing(7, "mauve", "cone", 0, 0),), 1, 1, "up").problems


# --- pictures and words ----------------------------------------------------------------------------------------------


def test_pictures() -> None:
    for world in worlds(3, "pictures"):
        path = trail(world, plan(world, 0, "walk", ""))
        canvas = draw(world, "walk to <the> & fro", show_roles=True, path=path)
        ElementTree.fromstring(canvas.svg())
        assert canvas.png().startswith(b"\x89PNG")
        description = Description((Phrase("", "", "circle"), Phrase("", "red", "box")), (-1, 0), ("", "inside"))
        ElementTree.fromstring(relation_graph(world, description, "x").svg())
    empty = Canvas(10, 10)
    empty.line(((0, 0), (9, 9), (9, 0)), stroke="#000000", dash=2.0, opacity=0.5)
    assert empty.png()


def test_pictures_that_are_kept_are_the_pictures_themselves() -> None:
    """An object that was painted before is put down as it was. It looks as if it were painted anew, in every cell and over boxes."""
    kinds = list(itertools.product(codes.SIZES, ("red", "yellow"), ("circle", "square", "cylinder")))
    for shift in (0, 5):  # every kind in two cells, corners and edges among them
        things = [Thing(size, color, shape, *divmod((i + shift) % 36, 6)) for i, (size, color, shape) in enumerate(kinds)]
        for boxes in ((), (Thing(3, "blue", "box", 2, 1), Thing(2, "red", "box", 0, 4))):
            canvas = draw(World(6, (*things, *boxes), 5, 5), "walk to it")
            assert len(canvas.sprites) == len(things) if not boxes else 0 < len(canvas.sprites) < len(things)
            kept = canvas.png()
            assert kept == canvas.png()
            canvas.sprites.clear()
            assert kept == canvas.png()


def test_words() -> None:
    world = World(4, (Thing(2, "red", "square", 0, 1), Thing(2, "blue", "box", 2, 2)), 3, 0, "north")
    text = describe(world)
    assert "a red square of size 2 in row 1, column 2" in text
    assert "around rows 3 to 4, columns 3 to 4" in text
    assert "faces north" in text
    picture = ascii_map(world, 0)
    assert "rS2*" in picture
    assert picture.count("^") == 1
    assert picture.count(".....") == 4


# --- documents -------------------------------------------------------------------------------------------------------


def test_documents_stream(tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    rows = [("train", {"i": i, "text": "x" * 3000}) for i in range(900)] + [("test", {"i": 5})]
    with path.open("w") as out:
        write_document({"grid_size": 6, "words": {"a": "b"}}, ("train", "dev", "test"), iter(rows), out)
    document = json.loads(path.read_text())
    assert document["examples"]["dev"] == []
    assert list(document["examples"]) == ["train", "test", "dev"]
    found = list(read_document(path))
    assert found[:2] == [("", "grid_size", 6), ("", "words", {"a": "b"})]
    assert [(s, v) for s, _, v in found[2:]] == rows
    path.write_text(json.dumps(document, indent=4))
    assert list(read_document(path))[2:] == found[2:]
    with pytest.raises(UsageError, match="do not come together"):
        write_document({}, (), iter([("a", {}), ("b", {}), ("a", {})]), io.StringIO())
    empty = io.StringIO()
    write_document({}, ("train", "test"), iter([]), empty)
    assert json.loads(empty.getvalue()) == {"examples": {"train": [], "test": []}}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"examples": [1]}', '{"examples": {"train": [1, ]}}', '{"examples": {"train": {}}}', "{}", '{"examples": {}} x',
     '{"examples": {"train": [' + "[" * 100_000, '{1: 2}', '{"examples": {"train": ["a]}}'],
)  # fmt: skip
def test_broken_documents_are_typed_errors(text: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    path.write_text(text)
    with pytest.raises(FileError):
        list(read_document(path))
