"""lilGym's program language: what each function means, what is refused, and that the fast form is the plain one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from recombine import kernels, keys
from recombine.errors import ProgramError
from recombine.families.lilgym import program
from recombine.families.lilgym.program import KERNEL_NAME, Bank, signatures
from recombine.families.lilgym.program.functions import FUNCTIONS
from recombine.families.lilgym.program.syntax import MAX_CHARS, parse
from recombine.families.lilgym.scene import Scene, unpack
from recombine.families.lilgym.sound import worlds

ROOT = Path(__file__).resolve().parents[2]
YELLOW, BLACK, BLUE = range(3)
CIRCLE, SQUARE, TRIANGLE = range(3)

TOWERS = Scene.of_towers([[BLUE, BLACK, BLUE], [YELLOW], []])
SCATTER = Scene.of(
    "scatter",
    [
        (0, 0, 0, 10, BLACK, CIRCLE),  # in the top left corner
        (0, 4, 50, 20, BLUE, SQUARE),  # almost at the left wall
        (0, 25, 50, 20, BLUE, TRIANGLE),  # 1 pixel from the square
        (1, 40, 70, 30, YELLOW, CIRCLE),  # at the bottom wall
        (1, 50, 10, 10, YELLOW, SQUARE),
        (2, 92, 44, 10, BLACK, TRIANGLE),  # pushed over the right wall by 2
    ],
)


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """The long checks, for a short run."""
    spec = importlib.util.spec_from_file_location("check_lilgym_programs", ROOT / "benchmarks" / "check_lilgym_programs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def count(predicate: str) -> str:
    return f"count(filter_obj(all_items, lambda x: {predicate}))"


TOWER_FACTS = [
    ("count(all_items) == 4 and count(all_boxes) == 3 and count(all_boxes[2]) == 0", True),
    ("count(filter_obj(all_boxes, lambda x: x.is_tower())) == 2", True),
    (f"{count('is_top(x)')} == 2 and {count('is_bottom(x)')} == 2", True),
    (f"{count('is_second(x)')} == 1 and {count('is_third(x)')} == 1", True),
    ("is_black(unique(filter_obj(all_items, is_second)))", True),
    (f"{count('is_blue(x)')} == 2 and {count('is_black(x)')} == 1 and {count('is_yellow(x)')} == 1", True),
    ("count(get_above(unique(filter_obj(all_items, lambda x: is_blue(x) and is_bottom(x))))) == 1", True),
    ("count(get_box_all_above(unique(filter_obj(all_items, lambda x: is_blue(x) and is_bottom(x))))) == 2", True),
    ("count(get_below(unique(filter_obj(all_items, is_third)))) == 1", True),
    ("count(get_box_all_below(unique(filter_obj(all_items, is_third)))) == 2", True),
    ("count(get_touching(unique(filter_obj(all_items, is_second)))) == 2", True),
    ("count(get_above(all_items)) == 2", True),
    ("query_color(all_boxes[0]) == [Color.BLUE, Color.BLACK, Color.BLUE]", True),
    ("query_color(all_boxes[0]) == [Color.BLACK, Color.BLUE, Color.BLUE]", False),
    ("get_set_colors(all_boxes[0]) == {Color.BLACK, Color.BLUE}", True),
    ("count(query_color(all_items)) == 3 and len(query_color(all_items)) == 4", True),
    ("All(all_items, is_square) and not All(all_boxes[2], is_square)", True),
    ("Any(all_items, is_yellow) and not Any(all_boxes[2], is_square)", True),
    ("all_same_color(all_boxes[1]) and not all_same_color(all_boxes[0]) and not all_same_color(all_boxes[2])", True),
    ("all_same(query_color(all_boxes[1])) and not all_same(all_boxes)", True),
    ("all_same_attribute(all_boxes, lambda x: count(x) > 5)", True),
    ("all_same_attribute(all_boxes, count)", False),
    ("count(combinations(all_items, 2)) == 6 and len(combinations(all_boxes, 3)) == 1", True),
    ("exist(filter_obj(combinations(all_items, 2), lambda x: all_same_color(x)))", True),
    ("le(1, 1) and ge(2, 1) and lt(1, 2) and gt(2, 1) and equal_int(3, 3)", True),
    ("AND(True, False) or OR(True, False) and NOT(False)", True),
    ("count(min(all_boxes, key=lambda x: count(x))) == 0", True),
    ("contained({Color.BLUE}, get_set_colors(all_items)) and contained(all_boxes[2], all_boxes[0])", True),
    ("member_of(Color.BLACK, get_set_colors(all_boxes[1]))", False),
    ("equal_set(all_boxes[2], filter_color(all_boxes[1], Color.BLACK))", True),
    ("count(union(get_above(all_items), get_below(all_items))) == 3", True),
    ("count(intersect(get_above(all_items), get_below(all_items))) == 1", True),
    ("equal_color(query_color(all_boxes[1]), Color.YELLOW) and equal(Color.BLUE, Color.BLUE)", True),
    ("len(set([1, 2, 2])) == 2 and 7 % 3 == 1 and 1 + 1 == 2 and 1 < 2 < 3", True),
    ("all_boxes[0].all_items_in_box()[0].box == all_boxes[0] and all_boxes[0] != all_boxes[1]", True),
    ("count(all_boxes[1:]) == 2 and count(all_boxes[:2]) == 2 and Color.BLUE in get_set_colors(all_items)", True),
    ("count(all_boxes[0].all_items_in_box() + all_boxes[0].all_items_in_box()) == 3", True),
]
SCATTER_FACTS = [
    (f"{count('is_touching_wall(x)')} == 3", True),
    (f"{count('is_touching_wall(x, Side.LEFT)')} == 1 and {count('is_touching_wall(x, side=Side.RIGHT)')} == 1", True),
    (f"{count('is_touching_wall(x, Side.BOTTOM)')} == 1 and {count('is_touching_wall(x, Side.TOP)')} == 1", True),
    (f"{count('is_closely_touching_wall(x)')} == 4 and {count('is_closely_touching_wall(x, Side.LEFT)')} == 2", True),
    (f"{count('is_touching_corner(x)')} == 1 and {count('is_closely_touching_corner(x, Side.TOP)')} == 1", True),
    (f"{count('is_closely_touching_specific_corner(x, Side.TOP, Side.LEFT)')} == 1", True),
    (f"{count('is_closely_touching_specific_corner(x, Side.TOP, Side.RIGHT)')} == 0", True),
    (f"{count('is_close_to_wall(x)')} == 5 and {count('is_close_to_corner(x)')} == 1", True),
    (f"{count('is_small(x)')} == 3 and {count('is_medium(x)')} == 2 and {count('is_big(x)')} == 1", True),
    (f"{count('is_circle(x)')} == 2 and {count('is_square(x)')} == 2 and {count('is_triangle(x)')} == 2", True),
    ("count(get_touching(filter_shape(all_boxes[0], Shape.SQUARE))) == 1", True),
    ("count(get_closely_touching(filter_shape(all_boxes[0], Shape.SQUARE))) == 1", True),
    ("is_closely_touching(all_items[1], all_items[2]) and not is_closely_touching(all_items[0], all_items[0])", True),
    ("count(get_above(all_items[1])) == 1 and count(get_below(all_items[0])) == 2", True),
    ("count(get_img_all_above(all_items[3])) == 5 and count(get_img_all_below(all_items[0])) == 5", True),
    ("count(get_box_inclusive(all_items[0])) == 3 and count(get_box_exclusive(all_items[0])) == 2", True),
    ("count(get_img_exclusive(all_items[0])) == 5 and count(get_set_sizes(all_items)) == 3", True),
    ("count(union_all({Color.BLUE}, {Color.BLACK}, {Color.BLUE})) == 2", True),
    ("count(intersect_all({Color.BLUE}, {Color.BLACK})) == 0 and select(query_color(all_items), 0) == Color.BLACK", True),
    ("count(filter_size(all_items, Size.LARGE)) == 1 and equal_size(query_size(all_items[0]), Size.SMALL)", True),
    (
        "get_set_shapes(all_boxes[1]) == {Shape.CIRCLE, Shape.SQUARE} and equal_shape(query_shape(all_items[0]), [Shape.CIRCLE])",
        True,
    ),
    ("all_same_shape(all_boxes[2]) and all_same_size(all_boxes[2]) and not all_same_size(all_boxes[1])", True),
    ("count(filter_obj(all_boxes, lambda x: x.is_tower())) == 0", True),
]


@pytest.mark.parametrize(("text", "expected"), TOWER_FACTS)
def test_functions_on_towers(text: str, expected: bool) -> None:
    made = program.compile(text)
    assert made.evaluate(TOWERS) is expected
    assert Bank([made]).evaluate(np.zeros(1, np.int64), *packed(TOWERS), compiled=True).tolist() == [expected]


@pytest.mark.parametrize(("text", "expected"), SCATTER_FACTS)
def test_functions_on_scattered_items(text: str, expected: bool) -> None:
    made = program.compile(text)
    assert made.evaluate(SCATTER) is expected
    assert Bank([made]).evaluate(np.zeros(1, np.int64), *packed(SCATTER), compiled=True).tolist() == [expected]


def packed(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    return np.array([scene.items], np.int16), np.array([len(scene.items)], np.int64)


def test_every_function_is_named_in_a_fact() -> None:
    text = " ".join(fact for fact, _ in TOWER_FACTS + SCATTER_FACTS) + " all("
    assert [name for name in FUNCTIONS if f"{name}(" not in text and name not in text] == []
    assert len(FUNCTIONS) == 77
    assert set(signatures.SIGNATURES) == set(FUNCTIONS)


FAULTS = [
    ("exist(filter_obj(all_boxes, lambda x: x.is_tower))", "uncalled_method"),
    ("exist(filter_obj(all_items, lambda x: get_above(x)))", "not_a_bool"),
    ("exist(filter_obj(all_boxes, lambda x: count(x) and x.is_tower()))", "not_a_bool"),
    ("all(filter_obj(all_items, is_black))", "not_a_bool"),
    ("exist(all_items) == 1", "bool_as_int"),
]


@pytest.mark.parametrize(("text", "code"), FAULTS)
def test_faults_are_found_and_evaluated_as_python_would(text: str, code: str) -> None:
    made = program.compile(text)
    assert [fault.code for fault in made.faults] == [code]
    assert made.evaluate(TOWERS) is True


ILL_TYPED = [
    "all_items", "count(all_items)", "exist", "is_black(all_boxes)", "is_black(all_boxes[0])", "count(1) == 1", "exist(True)",
    "all_items == all_boxes", "Color.BLUE == Shape.SQUARE", "filter_color(all_items, Shape.SQUARE) == all_items", "Color.RED == Color.BLUE",
    "all_items.box == 1", "all_items[0].color == 1", "all_boxes[0].items == 1", "exist(lambda x: x)", "lambda x: True", "filter_obj(all_items, 1) == all_items",
    "AND(1, True)", "AND(True)", "ge(True, 1)", "le(1)", "not Color.BLUE", "exist([])", "exist([1, Color.BLUE])", "{Color.BLUE: 1}", "min(all_boxes) == all_boxes[0]",
    "min(all_boxes, count) == all_boxes[0]", "All(all_items, lambda x: get_above(x))", "all_same_attribute(all_items, query_color)", "unique(combinations(all_items, 2)) == 1",
    "is_touching_wall(all_items[0], Color.BLUE)", "is_touching_wall(all_items[0], wall=Side.ANY)", "is_touching_wall(side=Side.ANY)", "exist(all_items, all_items)",
    "count(all_items) == 2 == all_items", "all_items < all_items", "combinations(all_items, 9) == combinations(all_items, 9)", "y", "all_items()", "Color", "Color.BLUE()",
    "is_top(all_items[0])()", "all_boxes[True] == all_boxes[0]", "all_boxes[0].is_tower(1)", "x.is_tower()", "1 in all_items", "set(all_items)", "union({1}, {Color.BLUE}) == {1}",
]  # fmt: skip


@pytest.mark.parametrize("text", ILL_TYPED)
def test_ill_typed_programs_are_refused(text: str) -> None:
    with pytest.raises(ProgramError):
        program.compile(text)


HOSTILE = [
    "__import__('os').system('x')", "open('f','w').write('x') > 0", 'exec("...") or True', 'eval("1")',
    "().__class__.__bases__[0].__subclasses__()", "(lambda: 0).__globals__['__builtins__']", "exist.__globals__['__builtins__']['open']('f','w')",
    "Color.BLACK.__class__.__init__.__globals__", "Color.BLACK.value.__class__", "Color['BLACK'].__reduce_ex__(2)", "getattr(all_items,'__class__')",
    "'{0.__class__}'.format(all_items)", "f'{all_items.__class__}'", "vars()", "globals()", "locals()", "dir()", "breakpoint()", "input()",
    "9**9**9", "10**10**10", "1<<10**10", "'A'*10**10", "[0]*10**9", "1" * 100_000, "-" * 100_000 + "1", "not " * 5_000 + "True",
    "(" * 500 + "True" + ")" * 500, "[" * 1_000 + "]" * 1_000, "(x:=1)", "(yield 1)", "(await x)", "[x for x in all_items]", "{**{}}", "*all_items,",
    "(lambda x=__import__('os'): x)()", "(lambda *a: a)(1)", "(lambda f: f(f))(lambda f: f(f))", "exist(*all_items)", "exist(**{})",
    "count(all_items, key=__import__)", "min(all_items, key=open)", "numpy.load('x')", "itertools.count()", "run_logical_form('1',1)", "Item({})",
    "all_items\n__import__('os')", "all_items;1", "import os", "\0", "\ud800", "", " ", "None", "...", "1.5", "b'x'", "lambda: lambda: 1", "all_items.box.box",
    "True if True else False", "all_items is all_items", "1 - 1 == 0", "not", "()", "True,", "x" * 5_000, "all_items[::2] == all_items", "True # comment", "é",
    "exist(all_items" + "(" * 64, "True and" * 400, "all_boxes" + "[0]" * 200,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProgramError):
        program.compile(text)
    assert list(tmp_path.iterdir()) == []


def test_what_only_evaluation_shows_is_a_typed_error() -> None:
    for text in (
        "is_black(unique(all_items))",
        "all_items[99].box == all_boxes[0]",
        "1 % 0 == 0",
        "min(filter_obj(all_boxes, lambda x: count(x) > 9), key=count) == all_boxes[0]",
        "is_black(select(all_boxes[2], 0))",
    ):
        made = program.compile(text)
        with pytest.raises(ProgramError):
            made.evaluate(TOWERS)
        with pytest.raises(ProgramError):
            Bank([made]).evaluate(np.zeros(1, np.int64), *packed(TOWERS), compiled=True)


def test_fuel_stops_programs_that_would_run_for_ages() -> None:
    dense = Scene.of("scatter", [(k % 3, k, k, 10, k % 3, k % 3) for k in range(60)])
    nested = "True"
    for name in "uvwxyz":
        nested = f"exist(filter_obj(all_items, lambda {name}: {nested}))"
    hungry = "all_same_color(all_items) and contained(all_items, all_items)"
    for name in "xyz":
        hungry = f"exist(filter_obj(all_items, lambda {name}: {hungry}))"
    for text in (nested, hungry, "count(combinations(all_items, 8)) == 1"):
        made = program.compile(text)
        with pytest.raises(ProgramError, match="too many steps"):
            made.evaluate(dense)


def test_limits() -> None:
    parse("True" + " " * (MAX_CHARS - 4))
    for text in ("True" + " " * MAX_CHARS, "count(all_items) == 1001", "1 + " * 1100 + "1 == 1", "(" * 70 + "True" + ")" * 70):
        with pytest.raises(ProgramError):
            program.compile(text)
    with pytest.raises(ProgramError):
        program.compile(3)  # type: ignore[arg-type]
    with pytest.raises(ProgramError):
        program.compile([])  # type: ignore[arg-type]


def test_precedence_is_pythons() -> None:
    for text, expected in (
        ("True or True and False", True),
        ("not False and False", False),
        ("not 1 == 2", True),
        ("1 + 5 % 3 == 3", True),
        ("(1 + 5) % 3 == 0", True),
        ("not True == False", True),
        ("False or not False", True),
        ("Color.BLUE not in get_set_colors(all_boxes[1])", True),
        ("1 + 1 + 1 == 3 and 9 % 5 % 3 == 1", True),
    ):
        assert program.compile(text).evaluate(TOWERS) is expected, text


def test_compiled_form_is_the_plain_one(check: ModuleType) -> None:
    texts = [text for kind in ("tower", "scatter") for text in check.own(kind, 150)]
    texts += [fact for fact, _ in TOWER_FACTS + SCATTER_FACTS] + [text for text, _ in FAULTS]
    made = [program.compile(text) for text in texts]
    assert check.compare(made, 12_000) == 0
    assert sum(p.code is None for p in made) <= 3


def test_interpreted_kernel_is_the_compiled_one() -> None:
    texts = [fact for fact, _ in SCATTER_FACTS]
    bank = Bank([program.compile(text) for text in texts])
    items, counts = worlds.draw_scenes("scatter", False, keys.states(5, 0, len(texts)))
    outs = []
    for compiled in (False, True):
        out = np.zeros(len(texts), np.int8)
        words = np.zeros(program.kernel.HEADER + program.kernel.ROWS * items.shape[1], np.int64)
        run = kernels.load(KERNEL_NAME, compiled).evaluate_batch
        run(
            bank.code,
            bank.offsets,
            np.arange(len(texts)),
            items,
            counts,
            words,
            np.zeros(program.kernel.REGISTERS, np.int64),
            out,
        )
        outs.append(out.tolist())
        drawn = worlds.draw_scenes("scatter", True, keys.states(6, 0, 40), compiled)
        outs.append([drawn[0].tolist(), drawn[1].tolist()])
    assert outs[0] == outs[2]
    assert outs[1] == outs[3]


def test_fuzzed_texts_give_typed_errors_only(check: ModuleType) -> None:
    texts = [text for kind in ("tower", "scatter") for text in check.own(kind, 100)] + [fact for fact, _ in TOWER_FACTS]
    faults, survivors = check.fuzz(texts, 2_500)
    assert faults == 0
    assert check.compare(survivors, 5 * len(survivors), "survivors") == 0


def test_many_scenes_at_once() -> None:
    items, counts = worlds.draw_scenes("tower", False, keys.states(9, 0, 50))
    scenes = unpack("tower", items, counts)
    made = program.compile("exist(filter_obj(all_items, lambda x: is_blue(x) and is_top(x)))")
    assert made.evaluate_many(scenes).tolist() == [made.evaluate(scene) for scene in scenes]
    crowded = Scene.of("scatter", [(k % 3, 0, 0, 10, BLUE, SQUARE) for k in range(64)])
    assert Bank([made]).evaluate(np.zeros(1, np.int64), *packed(crowded), compiled=True).tolist() == [True]
