"""Scenes, geometry, pictures and acting of lilGym."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recombine.envs.lilgym import LilGymEnv
from recombine.errors import UnknownName, UsageError
from recombine.families.lilgym import program, render
from recombine.families.lilgym.generate import unpack_rows
from recombine.families.lilgym.play import episodes, geometry, validity
from recombine.families.lilgym.play.edits import Setting, action_of, edit_of, format_edits, parse_edits
from recombine.families.lilgym.play.tasks import instances_of
from recombine.families.lilgym.scene import (
    EMPTY_SCATTER,
    EMPTY_TOWER,
    SIZES,
    Item,
    Scene,
    pack,
    pack_rows,
    tower_y,
    unpack,
)
from recombine.keys import Stream

PAPER, CODE = Setting("scatter", "paper"), Setting("scatter", "code")
TWO_BLUE = program.compile("count(filter_obj(all_items, lambda x: is_blue(x))) == 2")


def free_scene(stream: Stream, most: int = 20) -> Scene:
    """Items anywhere, overlapping as they like, some of them over an edge."""
    return Scene.of(
        "scatter",
        [
            (
                stream.below(3),
                stream.below(104) - 6,
                stream.below(104) - 6,
                SIZES[stream.below(3)],
                stream.below(3),
                stream.below(3),
            )
            for _ in range(stream.below(most + 1))
        ],
    )


def grown_scene(stream: Stream, setting: Setting, edits: int) -> Scene:
    """What valid random edits make of an empty scene."""
    scene = EMPTY_SCATTER if setting.kind == "scatter" else EMPTY_TOWER
    while edits:
        after, error = episodes.edit_scene(setting, scene, 1 + stream.below(setting.action_count - 1))
        scene, edits = (scene, edits) if error else (after, edits - 1)
    return scene


# --- the three forms -------------------------------------------------------------------------------------------------


def test_forms_hold_the_same_scene() -> None:
    scenes = [free_scene(Stream("forms", i)) for i in range(50)] + [EMPTY_SCATTER]
    items, counts = pack(scenes)
    assert unpack("scatter", items, counts) == scenes
    column = unpack_rows(items, counts)
    assert [Scene.of_flat("scatter", column[i]) for i in range(len(scenes))] == scenes
    again, numbers = pack_rows(column)
    assert np.array_equal(again, items) and np.array_equal(numbers, counts)


def test_items_are_grouped_by_box_in_list_order() -> None:
    scene = Scene.of("scatter", [(2, 0, 0, 10, 0, 0), (0, 5, 5, 20, 1, 1), (2, 50, 0, 10, 2, 2), (0, 50, 5, 30, 1, 0)])
    assert [item.box for item in scene.items] == [0, 0, 2, 2]
    assert [item.x for item in scene.boxes[2]] == [0, 50]
    assert scene.permuted([2, 0, 1]).boxes[0][0] == Item(0, 0, 0, 10, 0, 0)
    assert scene.permuted([2, 0, 1]).permuted([1, 2, 0]) == scene


def test_towers_stand_as_in_the_data() -> None:
    assert [tower_y(level) for level in range(4)] == [80, 59, 38, 17]
    assert Scene.of_towers([[0], [], [2, 1]]).flat == [0, 40, 80, 20, 0, 1, 2, 40, 80, 20, 2, 1, 2, 40, 59, 20, 1, 1]


@pytest.mark.parametrize(
    "item", [(3, 0, 0, 10, 0, 0), (0, 0, 0, 15, 0, 0), (0, 0, 0, 10, 3, 0), (0, 500, 0, 10, 0, 0), (0, 0, 0, 10, 0, -1)]
)
def test_impossible_items_are_refused(item: tuple[int, ...]) -> None:
    with pytest.raises(UsageError):
        Scene.of("scatter", [item])


# --- geometry --------------------------------------------------------------------------------------------------------


def segment_gap(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    t = np.clip(np.dot(p - a, b - a) / np.dot(b - a, b - a), 0, 1)
    return float(np.linalg.norm(p - a - t * (b - a)))


def strictly_inside(p: np.ndarray, ring: np.ndarray) -> bool:
    sides = [
        (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
        for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)
    ]
    return min(sides) > 1e-9 or max(sides) < -1e-9


def crossing(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> bool:
    def turn(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return turn(a, b, c) * turn(a, b, d) < -1e-9 and turn(c, d, a) * turn(c, d, b) < -1e-9


def test_contacts_agree_with_brute_force() -> None:
    table, stream = geometry.contact_table(), Stream("contacts")
    for _ in range(80):
        a, b = stream.below(9), stream.below(9)
        dx, dy = stream.below(61) - 30, stream.below(61) - 30
        p, q = geometry.outline(a), geometry.outline(b) + np.array([dx, dy])
        edges_p = list(zip(p, np.roll(p, -1, axis=0), strict=True))
        edges_q = list(zip(q, np.roll(q, -1, axis=0), strict=True))
        meets = any(strictly_inside(v, q) for v in (*p, p.mean(0))) or any(strictly_inside(v, p) for v in (*q, q.mean(0)))
        meets = meets or any(crossing(*e, *f) for e in edges_p for f in edges_q)
        contact = int(table[a, b, dy + 34, dx + 34])
        assert bool(contact & geometry.MEETS) == meets, (a, b, dx, dy)
        if not meets:
            gap = min(min(segment_gap(v, *e) for v in p for e in edges_q), min(segment_gap(v, *e) for v in q for e in edges_p))
            assert contact & geometry.NEAR == (math.floor(gap + 1e-9) + 1 if gap < 5 - 1e-9 else 0), (a, b, dx, dy, gap)


def test_exact_and_released_overlap_differ_only_by_a_hair() -> None:
    table = geometry.contact_table()
    differ = np.argwhere(((table & geometry.MEETS) != 0) != ((table & geometry.MEETS_EXACTLY) != 0))
    assert len(differ) == 8, "two big circles at (13, 27) and its mirror images"
    for a, b, dy, dx in differ:
        contact = table[a, b, dy, dx]
        assert contact & geometry.MEETS_EXACTLY and a < 3 and b < 3, "only discs overlap where 64-gons do not"
        centres = (dx - 34 + SIZES[b] / 2 - SIZES[a] / 2, dy - 34 + SIZES[b] / 2 - SIZES[a] / 2)
        assert 0 < SIZES[a] / 2 + SIZES[b] / 2 - math.hypot(*centres) < 0.04


def test_areas_add_up() -> None:
    table = geometry.area_table()
    for kind in range(9):
        s = SIZES[kind % 3]
        whole = {0: s * s * 64 / 8 * math.sin(math.pi / 32), 1: s * s, 2: s * s / 2}[kind // 3]
        assert table[kind, s, s] / geometry.AREA_UNIT == pytest.approx(whole, abs=1e-3)


# --- pictures --------------------------------------------------------------------------------------------------------


def drawn_with_pillow(scene: Scene) -> np.ndarray:
    """A straightforward reference: rectangles, ellipses and polygons."""
    image = Image.new("RGB", (380, 100), (128, 128, 128))
    pen = ImageDraw.Draw(image)
    for box in range(3):
        pen.rectangle((140 * box, 0, 140 * box + 99, 99), fill=(211, 211, 211))
    for item in scene.items:
        fill = ((250, 255, 0), (0, 0, 0), (15, 131, 255))[item.color]
        x0, y0 = 140 * item.box + item.x, item.y
        x1, y1 = x0 + item.size - 1, y0 + item.size - 1
        if item.shape == 0:
            pen.ellipse((x0, y0, x1, y1), fill=fill)
        elif item.shape == 1:
            pen.rectangle((x0, y0, x1, y1), fill=fill)
        else:
            pen.polygon([(x0, y1), (x1, y1), (x1 - (x1 - x0) // 2, y0)], fill=fill)
    return np.asarray(image)


def test_pictures_equal_a_plain_drawing() -> None:
    for i in range(150):
        scene = free_scene(Stream("pictures", i))
        reference = drawn_with_pillow(scene)
        assert np.array_equal(render.picture(scene), reference), scene
        blocks = reference.reshape(50, 2, 190, 2, 3).astype(int).sum((1, 3)) // 4
        assert np.array_equal(render.observation(scene), blocks)


@pytest.mark.parametrize("compiled", [False, True])
def test_kernels_draw_the_same(compiled: bool) -> None:
    scenes = [free_scene(Stream("kernels", i), 8) for i in range(20)]
    items, counts = pack(scenes)
    assert np.array_equal(render.observations(items, counts, compiled), np.stack([render.observation(s) for s in scenes]))


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_png_files_hold_the_picture_enlarged(scale: int) -> None:
    """A file has five colours and four bits a pixel; nothing of the picture is lost, wherever its items lie."""
    off = [(0, 0, 99, 30, 0, 0), (2, 99, 0, 30, 1, 1), (0, -40, 0, 10, 2, 2), (1, 0, -35, 20, 0, 1), (2, 95, 92, 30, 2, 0)]
    for scene in [free_scene(Stream("png", i)) for i in range(5)] + [Scene.of("scatter", off), EMPTY_SCATTER]:
        opened = Image.open(io.BytesIO(render.png(scene, scale)))
        wanted = render.picture(scene).repeat(scale, 0).repeat(scale, 1)
        assert np.array_equal(np.asarray(opened.convert("RGB")), wanted), scene
        assert np.array_equal(render.picture(scene), drawn_with_pillow(scene)), scene


def test_forms_for_people() -> None:
    scene = Scene.of("scatter", [(0, 0, 0, 30, 0, 0), (1, 40, 40, 20, 1, 1), (2, 90, 90, 10, 2, 2)])
    assert Image.open(io.BytesIO(render.png(scene))).size == (760, 200)
    assert render.svg(scene).count("<circle") == 1 and render.svg(scene).count("<polygon") == 1
    art = render.ascii_art(scene)
    assert art.count("O") == art.count("#") == art.count("^") == 1
    strip = Image.open(io.BytesIO(render.filmstrip([scene] * 4, ["a", "b", "c", "d"], "title")))
    assert strip.width > 3 * 380 and strip.height > 2 * 100
    film = Image.open(io.BytesIO(render.gif([scene, EMPTY_SCATTER, scene], ["a", "b", "c"])))
    assert film.n_frames == 3  # type: ignore[attr-defined]


# --- actions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [Setting("tower"), PAPER, Setting("scatter", grid="native")])
def test_actions_and_edits_mirror(setting: Setting) -> None:
    assert (
        setting.action_count
        == {"tower": 13, "19x5": 2_661, "native": 1_064_001}[setting.kind if setting.kind == "tower" else setting.grid]
    )
    step = max(1, setting.action_count // 3_000)
    for action in [*range(0, setting.action_count, step), setting.action_count - 1]:
        assert action_of(setting, edit_of(setting, action)) == action
        assert parse_edits(setting, str(edit_of(setting, action))) == [action]


def test_action_numbers_are_the_published_ones() -> None:
    tower = Setting("tower")
    assert [str(edit_of(tower, a)) for a in (0, 1, 6, 9, 10, 12)] == [
        "STOP", "ADD yellow left", "ADD blue middle", "ADD blue right", "REMOVE left", "REMOVE right",
    ]  # fmt: skip
    assert str(edit_of(PAPER, 1 + ((((18 * 5 + 4) * 3 + 2) * 3 + 1) * 3 + 0))) == "ADD small black triangle 360 80"
    assert str(edit_of(PAPER, 2566 + 5 * 7 + 3)) == "REMOVE 140 60"
    assert format_edits(tower, [1, 0]) == "ADD yellow left\nSTOP"


def test_answers_are_read_kindly_but_strictly() -> None:
    assert parse_edits(PAPER, "add a large Yellow circle at (160, 20); remove (0,0)\n\nStop.") == parse_edits(
        PAPER, "ADD big yellow circle 160 20\nREMOVE 0 0\nSTOP"
    )
    hostile = [
        "ADD", "ADD yellow", "ADD yellow yellow left", "REMOVE", "jump left", "ADD STOP", "STOP left", "ADD big blue circle 10 20",
        "ADD big blue circle 400 20", "ADD big blue circle 160", "ADD big blue circle 1 2 3", "REMOVE -20 20 $", "STOP 5",
        "ADD big blue circle 99999999999999999999 20", "__import__('os')", "STOP" * 10_000, "ADD big blue circle ١٠ ٢٠", "\0",
    ]  # fmt: skip
    for text in hostile:
        with pytest.raises(UsageError):
            parse_edits(PAPER, text)


@pytest.mark.parametrize("number", ["123", "12345", "99999999999999999999", "0" * 5_000])
def test_every_number_of_an_edit_counts(number: str) -> None:
    for text in (f"STOP {number}", f"REMOVE 160 20 {number}", f"ADD big yellow circle 160 {number} 20", f"REMOVE {number}"):
        with pytest.raises(UsageError):
            parse_edits(PAPER, text)
    for text in (f"STOP {number}", f"REMOVE left {number}", f"ADD blue left {number}"):
        with pytest.raises(UsageError):
            parse_edits(Setting("tower"), text)


def test_named_errors() -> None:
    def error(setting: Setting, scene: Scene, text: str) -> str:
        return episodes.edit_scene(setting, scene, parse_edits(setting, text)[0])[1]

    tower = Setting("tower")
    assert error(tower, Scene.of_towers([[0] * 4, [], []]), "ADD blue left") == "does_not_fit"
    assert error(tower, EMPTY_TOWER, "REMOVE middle") == "nothing_to_remove"
    scene = Scene.of("scatter", [(0, 20, 20, 20, 1, 1)])
    assert error(PAPER, scene, "ADD big blue circle 80 0") == "does_not_fit"
    assert error(PAPER, scene, "ADD medium blue circle 20 20") == "does_not_fit"
    assert error(PAPER, scene, "ADD small blue circle 100 20") == "on_separator"
    assert error(PAPER, scene, "REMOVE 120 20") == "on_separator"
    assert error(PAPER, scene, "REMOVE 40 20") == "nothing_to_remove"
    assert error(PAPER, scene, "REMOVE 20 20") == ""
    assert sum(not episodes.edit_scene(PAPER, EMPTY_SCATTER, a)[1] for a in range(1, 2_661)) == 1_782


def test_bounding_squares_may_overlap_where_shapes_do_not() -> None:
    native = Setting("scatter", grid="native")
    scene = Scene.of("scatter", [(0, 0, 0, 30, 0, 2)])
    assert episodes.edit_scene(native, scene, parse_edits(native, "ADD small blue square 0 0")[0])[1] == ""
    assert episodes.edit_scene(native, scene, parse_edits(native, "ADD small blue square 10 10")[0])[1] == "does_not_fit"


def test_only_the_released_rules_snap() -> None:
    scene = Scene.of("scatter", [(0, 23, 0, 20, 1, 1)])
    add = parse_edits(PAPER, "ADD medium blue square 0 0")[0]
    assert episodes.edit_scene(PAPER, scene, add)[0].items[-1].x == 0
    assert episodes.edit_scene(CODE, scene, add)[0].items[-1].x == 3


def test_remove_takes_what_covers_most_of_the_cell() -> None:
    scene = Scene.of("scatter", [(0, 0, 0, 10, 0, 1), (0, 12, 0, 30, 1, 1), (0, 10, 31, 20, 2, 1)])
    after, _ = episodes.edit_scene(PAPER, scene, parse_edits(PAPER, "REMOVE 0 0")[0])
    assert [item.color for item in after.items] == [0, 2]


# --- episodes --------------------------------------------------------------------------------------------------------


def stepped(setting: Setting, compiled: bool, places: int, steps: int) -> list[tuple[bytes, ...]]:
    """A trace of random play: everything that a step gives."""
    stream = Stream("play", setting.kind)
    scenes = [grown_scene(stream, Setting(setting.kind), stream.below(6)) for _ in range(places)]
    instances = instances_of(
        setting.kind, [(str(i), "two are blue", TWO_BLUE.text, s, i % 2 == 0) for i, s in enumerate(scenes)]
    )
    states = episodes.begin(setting, instances, np.arange(places), compiled=compiled)
    trace = []
    for _ in range(steps):
        valid = validity.masks(states)
        actions = np.array(
            [np.flatnonzero(row)[stream.below(int(row.sum()))] if stream.below(8) else stream.below(len(row)) for row in valid]
        )
        outcome = episodes.advance(states, actions)
        images = np.stack([render.observation(s) for s in states.scenes()])
        assert np.array_equal(states.images, images), "pictures are a function of the scene"
        trace.append(tuple(np.ascontiguousarray(part).tobytes() for part in (*outcome, states.items, states.counts, valid)))
        ended = np.flatnonzero(~states.active)
        episodes.restart(states, ended, ended)
    return trace


@pytest.mark.parametrize("setting", [Setting("tower"), Setting("tower", "code", stop_forcing=True), PAPER, CODE])
def test_interpreted_and_compiled_play_alike(setting: Setting) -> None:
    assert stepped(setting, False, 6, 25) == stepped(setting, True, 6, 25)


@pytest.mark.parametrize("rules", ["paper", "code"])
def test_rewards_and_flags_at_the_horizon(rules: episodes.RuleBook) -> None:
    setting = Setting("tower", rules, horizon=3)
    instances = instances_of("tower", [("x", "s", TWO_BLUE.text, EMPTY_TOWER, True)] * 4)
    states = episodes.begin(setting, instances, np.arange(4), images=False)
    first = episodes.advance(states, np.array([3, 3, 3, 10]))
    assert first.rewards.tolist() == [-0.1, -0.1, -0.1, -1.0]
    assert first.ended[3].tolist() == ([False, True] if rules == "code" else [True, False])
    assert episodes.ERRORS[first.errors[3]] == "nothing_to_remove"
    second = episodes.advance(states, np.array([3, 3, 0, 0]))
    assert second.rewards.tolist() == [-0.1, -0.1, -1.0, 0.0] and episodes.ERRORS[second.errors[2]] == "stopped_early"
    third = episodes.advance(states, np.array([0, 3, 0, 0]))
    assert third.rewards.tolist() == [1.0, -0.1 if rules == "code" else -1.0, 0.0, 0.0]
    assert third.ended[0].tolist() == [True, rules == "code"] and third.ended[1].tolist() == [False, True]
    assert episodes.ERRORS[third.errors[1]] == "never_stopped" and int(states.counts[1]) == 2, (
        "the last edit is not carried out"
    )


def test_stop_is_forced_not_masked() -> None:
    setting = Setting("tower", stop_forcing=True)
    instances = instances_of("tower", [("x", "s", TWO_BLUE.text, Scene.of_towers([[2], [2], []]), True)])
    states = episodes.begin(setting, instances, [0], images=False)
    assert validity.masks(states).sum() == 12  # all but REMOVE right
    outcome = episodes.advance(states, np.array([1]))
    assert outcome.forced[0] and outcome.rewards[0] == 1.0 and outcome.ended[0].tolist() == [True, False]


def test_step_leaves_its_argument_alone_and_copies_continue_alike() -> None:
    instances = instances_of("scatter", [("x", "s", TWO_BLUE.text, EMPTY_SCATTER, True)] * 3)
    states = episodes.begin(CODE, instances, np.arange(3))
    before = states.items.copy()
    one = episodes.step(states, np.array([9, 18, 27]))
    assert np.array_equal(states.items, before) and not states.clocks.any()
    two = episodes.step(states.copy(), np.array([9, 18, 27]))
    assert np.array_equal(one.states.items, two.states.items) and np.array_equal(one.states.images, two.states.images)


def test_play_equals_the_batch() -> None:
    stream = Stream("one by one")
    for trial in range(30):
        setting = Setting("scatter" if trial % 2 else "tower", "code" if trial % 3 else "paper", stop_forcing=trial % 5 == 0)
        scene = grown_scene(stream, Setting(setting.kind), 3)
        target = bool(trial % 4)
        states = episodes.begin(setting, instances_of(setting.kind, [("x", "s", TWO_BLUE.text, scene, target)]), [0])
        actions, rewards = [], []
        while states.active[0]:
            valid = np.flatnonzero(validity.masks(states)[0])
            actions.append(int(valid[stream.below(len(valid))]))
            rewards.append(float(episodes.advance(states, np.array(actions[-1:])).rewards[0]))
        played = episodes.play(setting, scene, target, TWO_BLUE.evaluate, actions)
        assert list(played.rewards) == rewards and played.scenes[-1] == states.scenes()[0]


@pytest.mark.parametrize("setting", [PAPER, CODE, Setting("scatter", "code", "native")])
def test_masks_say_what_edits_do(setting: Setting) -> None:
    stream = Stream("masks", setting.rules, setting.grid)
    scenes = [
        grown_scene(stream, CODE, 5),
        Scene.of("scatter", [(0, 13, 27, 30, 0, 0), (1, 44, 3, 20, 1, 2), (1, 70, 70, 30, 2, 1)]),
    ]
    instances = instances_of("scatter", [("x", "s", TWO_BLUE.text, scene, True) for scene in scenes])
    states = episodes.begin(setting, instances, [0, 1], images=False)
    parts = validity.factored_masks(states)
    fast = validity.factored_masks(episodes.begin(setting, instances, [0, 1], images=False, compiled=True))
    assert all(np.array_equal(parts[name], fast[name]) for name in parts)
    for i, scene in enumerate(scenes):
        for _ in range(400):
            action = 1 + stream.below(setting.action_count - 1)
            edit = edit_of(setting, action)
            cell = {"19x5": 20, "native": 1}[setting.grid]
            column, row = edit.x // cell, edit.y // cell
            said = (
                parts["remove"][i, column, row]
                if edit.verb == "REMOVE"
                else parts["add"][i, edit.shape, edit.size, column, row]
            )
            assert bool(said) == (episodes.edit_scene(setting, scene, action)[1] == ""), str(edit)
    if setting.grid == "native":
        with pytest.raises(UsageError, match="factored_masks"):
            validity.masks(states)


def test_bad_actions_are_refused() -> None:
    instances = instances_of("tower", [("x", "s", TWO_BLUE.text, EMPTY_TOWER, True)])
    for actions in (np.array([13]), np.array([-1]), np.array([0.5]), np.array([0, 0])):
        with pytest.raises(UsageError):
            episodes.advance(episodes.begin(Setting("tower"), instances, [0], images=False), actions)
    for wrong in ({"kind": "heap"}, {"rules": "mine"}, {"grid": "7x7"}, {"horizon": 0}, {"horizon": True}):
        with pytest.raises(UsageError):
            Setting(**{"kind": "tower", **wrong})  # type: ignore[arg-type]


def test_towers_that_do_not_stand_are_refused() -> None:
    stand = Scene.of_towers([[0, 1, 2, 0], [], [1]])
    instances_of("tower", [("x", "s", TWO_BLUE.text, stand, True)])
    floating = Scene.of("tower", [(0, 40, 59, 20, 0, 1)])
    round_one = Scene.of("tower", [(0, 40, 80, 20, 0, 0)])
    too_high = Scene.of("tower", [*stand.items, (0, 40, -4, 20, 1, 1)])
    for wrong in (floating, round_one, too_high):
        with pytest.raises(UsageError, match="towers"):
            instances_of("tower", [("x", "s", TWO_BLUE.text, wrong, True)])


def test_any_text_is_read_or_refused() -> None:
    words = [
        "add",
        "REMOVE",
        "Stop",
        "big",
        "yellow",
        "circle",
        "left",
        "20",
        "380",
        "-1",
        ";",
        "\n",
        "at",
        "(",
        ",",
        "é",
        "0x10",
        "1e9",
        "",
    ]
    for trial in range(2_000):
        stream = Stream("texts", trial)
        text = " ".join(stream.choice(words) for _ in range(stream.below(9)))
        for setting in (Setting("tower"), PAPER):
            try:
                actions = parse_edits(setting, text)
            except UsageError:
                continue
            assert all(0 <= action < setting.action_count for action in actions)
            assert parse_edits(setting, format_edits(setting, actions)) == actions


# --- settings of the environments ------------------------------------------------------------------------------------


def test_observation_size_and_step_cost_are_settings() -> None:
    instances = instances_of(
        "tower", [("a", "There is a blue block.", "exist(filter_color(all_items, Color.BLUE))", EMPTY_TOWER, True)]
    )
    for resolution, shape in (("half", (50, 190, 3)), ("full", (100, 380, 3))):
        env = LilGymEnv("tower", "scratch", instances=instances, resolution=resolution, step_cost=0.25)  # type: ignore[arg-type]
        seen, _ = env.reset(seed=1)
        assert seen["image"].shape == shape and env.observation_space.contains(seen)
        seen, reward, *_ = env.step(1 + 2)
        assert reward == -0.25
        scene = Scene.of_towers([[2], [], []])
        assert np.array_equal(seen["image"], render.picture(scene) if resolution == "full" else render.observation(scene))
    for wrong in (-0.1, 2, True, "x"):
        with pytest.raises(UsageError):
            Setting("tower", step_cost=wrong)  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        LilGymEnv("tower", "scratch", instances=instances, resolution="double")  # type: ignore[arg-type]
