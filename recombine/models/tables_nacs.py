"""The tables of the NACS paper: what each cell ran, and the value printed in the paper.

Tables 1 and 2 of the NACS paper are selections from its Tables 4 to 7, and Table 3 from Table 8, so only those are written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recombine.models.cells import Cell, Table, value
from recombine.models.experiments import SCALES, Source
from recombine.models.translation import Translation

LABELS = {
    "rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "rnn-attn": "RNN +Attn", "rnn-attn-nodep": "RNN +Attn -Dep",
    "gru-attn": "GRU +Attn", "gru-attn-nodep": "GRU +Attn -Dep", "lstm-attn": "LSTM +Attn", "lstm-attn-nodep": "LSTM +Attn -Dep",
}  # fmt: skip
TASKS = {"simple": "Simple", "length": "Length", "addprim_turn_left": "Turn left", "addprim_jump": "Jump"}
EXTRAS = (0, 1, 2, 4, 8, 16, 32)

MAIN: dict[str, dict[str, str]] = {
    "scan": {
        "rnn": "75.6±5.4 0.2±0.0 26.7±12.8 0.0±0.0",
        "gru": "100.0±0.0 14.4±0.8 53.4±11.7 0.0±0.0",
        "lstm": "99.8±0.1 10.1±2.0 56.5±0.8 0.1±0.0",
        "rnn-attn": "100.0±0.0 9.6±0.9 81.1±14.7 1.9±1.2",
        "rnn-attn-nodep": "100.0±0.0 11.7±3.2 92.0±5.8 2.7±1.7",
        "gru-attn": "100.0±0.0 18.1±1.1 59.1±16.8 12.5±6.6",
        "gru-attn-nodep": "100.0±0.0 17.8±1.7 90.8±3.6 0.7±0.4",
        "lstm-attn": "100.0±0.0 15.6±1.6 83.8±16.8 9.7±2.9",
        "lstm-attn-nodep": "100.0±0.0 12.5±1.3 57.6±3.8 0.8±0.5",
        "L&B best": "99.8 20.8 90.3 1.2",
        "L&B best overall": "99.7 13.8 90.0 0.1",
    },
    "nacs": {
        "rnn": "26.9±0.2 0.2±0.1 26.4±12.0 0.0±0.0",
        "gru": "99.0±0.1 12.9±1.2 47.5±4.7 0.0±0.0",
        "lstm": "99.1±0.1 10.9±1.3 42.9±2.9 0.0±0.0",
        "rnn-attn": "99.8±0.1 19.4±0.7 44.1±0.9 0.3±0.3",
        "rnn-attn-nodep": "61.1±0.3 0.5±0.2 18.6±1.0 0.0±0.0",
        "gru-attn": "99.8±0.1 17.2±1.9 55.9±3.5 0.0±0.0",
        "gru-attn-nodep": "51.2±1.2 2.0±1.4 16.9±1.2 0.0±0.0",
        "lstm-attn": "99.1±0.2 17.1±2.0 48.3±1.7 0.0±0.0",
        "lstm-attn-nodep": "38.9±0.9 1.0±0.5 17.2±1.2 0.0±0.0",
    },
}
"""Tables 4 (SCAN) and 5 (NACS): simple, length, turn left, jump."""

JUMPS: dict[str, dict[str, str]] = {
    "scan": {
        "rnn": "0.0±0.0 0.0±0.0 0.0±0.0 0.1±0.0 0.1±0.1 0.5±0.3 1.4±0.3",
        "gru": "0.1±0.0 0.2±0.1 0.6±0.2 2.5±1.1 3.3±0.9 13.1±2.4 42.4±2.5",
        "lstm": "0.1±0.0 0.3±0.2 1.3±0.2 3.8±1.8 2.5±1.1 6.5±2.7 21.3±1.4",
        "rnn-attn": "3.5±3.0 35.0±2.8 48.6±8.1 77.6±2.6 89.2±3.8 98.7±1.3 99.8±0.1",
        "rnn-attn-nodep": "2.7±1.7 29.5±10.5 53.3±10.2 82.4±4.7 98.8±0.8 99.8±0.1 100.0±0.0",
        "gru-attn": "12.5±6.6 58.2±12.0 67.8±3.4 80.3±7.0 88.0±6.0 98.3±1.8 99.6±0.2",
        "gru-attn-nodep": "0.7±0.4 70.9±11.5 61.3±13.5 83.5±6.1 99.0±0.4 99.7±0.2 100.0±0.0",
        "lstm-attn": "7.8±0.9 40.2±9.3 37.7±10.7 50.3±13.9 62.2±7.7 94.0±2.7 98.6±1.0",
        "lstm-attn-nodep": "0.8±0.6 39.0±6.5 43.6±17.6 66.0±1.6 86.1±2.3 98.7±1.6 99.8±0.2",
        "L&B": "0.1 0.1 0.1 4.1 15.3 70.2 89.9",
    },
    "nacs": {
        "rnn": "0.0±0.0 0.1±0.0 0.1±0.1 0.2±0.0 0.7±0.2 0.4±0.0 0.8±0.1",
        "gru": "0.0±0.0 0.3±0.2 0.4±0.1 0.3±0.2 1.0±0.4 5.8±0.1 20.8±2.2",
        "lstm": "0.0±0.0 0.6±0.4 0.5±0.3 0.7±0.0 1.0±0.3 3.7±0.4 11.4±1.2",
        "rnn-attn": "0.3±0.3 2.8±0.8 9.3±7.3 24.7±4.2 43.7±4.4 57.1±5.2 69.1±2.1",
        "rnn-attn-nodep": "0.0±0.0 0.4±0.1 0.9±0.2 2.4±0.3 3.9±0.3 9.3±0.3 15.9±1.4",
        "gru-attn": "0.0±0.0 5.5±1.8 9.2±2.8 11.0±1.5 21.9±2.4 23.5±0.6 42.0±1.5",
        "gru-attn-nodep": "0.0±0.0 0.1±0.1 0.6±0.2 2.0±0.2 3.2±0.2 5.8±1.1 10.9±0.8",
        "lstm-attn": "0.0±0.0 2.1±0.2 3.7±0.9 6.6±0.5 12.5±2.5 21.8±2.6 34.2±1.7",
        "lstm-attn-nodep": "0.0±0.0 0.4±0.2 0.9±0.1 1.5±0.2 1.9±0.3 3.2±0.6 7.4±0.9",
    },
}
"""Tables 6 (SCAN) and 7 (NACS): `jump` with 0, 1, 2, 4, 8, 16 and 32 composed commands added."""

PAIRS: dict[str, dict[str, str]] = {
    "bleu": {
        "rnn-attn": "29.1±0.4 34.9±0.8", "rnn-attn-nodep": "27.5±0.7 32.9±0.8", "gru-attn": "32.1±0.3 37.5±0.6",
        "gru-attn-nodep": "30.2±0.3 35.9±0.3", "lstm-attn": "31.5±0.2 36.9±1.1", "lstm-attn-nodep": "28.7±0.2 34.0±0.1",
    },
    "daxy": {
        "rnn-attn": "79.2±15.6 41.7±5.9", "rnn-attn-nodep": "66.7±5.9 41.7±5.9", "gru-attn": "70.8±11.8 54.2±5.9",
        "gru-attn-nodep": "58.3±5.9 45.8±11.8", "lstm-attn": "75.0±10.2 41.7±15.6", "lstm-attn-nodep": "50.0±10.2 41.7±5.9",
    },
    "tired": {
        "rnn-attn": "66.7±5.9 20.8±5.9", "rnn-attn-nodep": "66.7±5.9 29.2±15.6", "gru-attn": "62.5±0.0 33.3±5.9",
        "gru-attn-nodep": "66.7±5.9 25.0±20.4", "lstm-attn": "66.7±5.9 25.0±10.2", "lstm-attn-nodep": "62.5±0.0 25.0±17.7",
    },
}  # fmt: skip
"""Tables 8 (BLEU), 9 (daxy) and 10 (tired): English to French, French to English."""


def _main(directions: Sequence[str], models: Sequence[str], quoted: Sequence[str] = ()) -> Iterator[Cell]:
    for family in directions:
        for model in [m for m in MAIN[family] if m in models or m in quoted]:
            for (split, task), paper in zip(TASKS.items(), MAIN[family][model].split(), strict=True):
                column = f"{task} {family.upper()}" if len(directions) > 1 else task
                source = Source(family, split) if model in LABELS else None
                yield Cell(LABELS.get(model, model), column, value(paper), source, model)


def _jumps(directions: Sequence[str], models: Sequence[str], extras: Sequence[int]) -> Iterator[Cell]:
    for family in directions:
        for model in [m for m in JUMPS[family] if m in models or m not in LABELS]:
            for n, paper in zip(EXTRAS, JUMPS[family][model].split(), strict=True):
                if n in extras:
                    row = LABELS.get(model, model) + (f" {family.upper()}" if len(directions) > 1 else "")
                    source = Source(family, f"nacs_jump_num{n}") if model in LABELS else None
                    yield Cell(row, str(n), value(paper), source, model)


def _pairs(kind: str, models: Sequence[str], files: str) -> Iterator[Cell]:
    part, measure = ("test", "bleu") if kind == "bleu" else (kind, "score")
    for model in models:
        for direction, paper in zip(("en-fr", "fr-en"), PAIRS[kind][model].split(), strict=True):
            source = Translation(direction, kind == "daxy", files)
            yield Cell(
                LABELS[model], {"en-fr": "En-Fr", "fr-en": "Fr-En"}[direction], value(paper), source, model, part, measure
            )


def _language(files: str) -> str:
    """What the translations were learnt from."""
    if files:
        return "learnt from the sentence pairs in the given folder"
    return "learnt from sentences of the built-in grammar, not from the paper's files: the paper's BLEU is not comparable"


ATTENDING = [m for m in LABELS if "attn" in m]
IN_TABLE_1 = ["gru", "rnn-attn", "rnn-attn-nodep", "gru-attn", "gru-attn-nodep"]
IN_TABLE_2 = ["rnn-attn", "rnn-attn-nodep", "gru-attn", "gru-attn-nodep"]
BOTH = ("scan", "nacs")
LAKE = ("L&B best", "L&B best overall")

NACS_TABLES: dict[str, Table] = {
    "nacs-table1": Table("NACS paper, Table 1: test accuracy, %", lambda _: list(_main(BOTH, IN_TABLE_1, LAKE)), SCALES, spread="population"),
    "nacs-table2": Table("NACS paper, Table 2: jump with added commands, %", lambda _: list(_jumps(BOTH, IN_TABLE_2, EXTRAS[1:])), SCALES, spread="population"),
    "nacs-table3": Table("NACS paper, Table 3: translation, BLEU", lambda f: list(_pairs("bleu", IN_TABLE_2[2:], f)), SCALES, spread="population", note=_language),
    "nacs-table4": Table("NACS paper, Table 4: SCAN test accuracy, %", lambda _: list(_main(("scan",), [*LABELS], LAKE)), SCALES, spread="population"),
    "nacs-table5": Table("NACS paper, Table 5: NACS test accuracy, %", lambda _: list(_main(("nacs",), [*LABELS])), SCALES, spread="population"),
    "nacs-table6": Table("NACS paper, Table 6: SCAN jump with added commands, %", lambda _: list(_jumps(("scan",), [*LABELS], EXTRAS)), SCALES, spread="population"),
    "nacs-table7": Table("NACS paper, Table 7: NACS jump with added commands, %", lambda _: list(_jumps(("nacs",), [*LABELS], EXTRAS)), SCALES, spread="population"),
    "nacs-table8": Table("NACS paper, Table 8: translation, BLEU", lambda f: list(_pairs("bleu", ATTENDING, f)), SCALES, spread="population", note=_language),
    "nacs-table9": Table("NACS paper, Table 9: sentences with daxy, %", lambda f: list(_pairs("daxy", ATTENDING, f)), SCALES, spread="population", note=_language),
    "nacs-table10": Table("NACS paper, Table 10: sentences with tired, %", lambda f: list(_pairs("tired", ATTENDING, f)), SCALES, spread="population", note=_language),
}  # fmt: skip
"""Name -> table."""
