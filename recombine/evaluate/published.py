"""Accuracies that the papers printed, in per cent, for sets that compare with ours: same rule, `release` recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A printed figure: per cent, deviation over runs where given, where it stands, and what the model was trained on.

    `trained_on` is empty where that is the training part of the same split.
    """

    model: str
    accuracy: float
    deviation: float | None
    source: str
    trained_on: str = ""

    @property
    def text(self) -> str:
        """`GRU +Attn 18.1 ± 1.1 (Bastings et al. 2018)`; `M-LSTM trained on all 50.36 ± 4.03 (…)`."""
        spread = f" ± {self.deviation:g}" if self.deviation is not None else ""
        training = f" trained on {self.trained_on}" if self.trained_on else ""
        return f"{self.model}{training} {self.accuracy:g}{spread} ({self.source})"


_NACS = "Bastings et al. 2018, Table 1"
_REASCAN = "Wu et al. 2021, Table 3"
_REASCAN_V11 = "ReaSCAN v1.1 release notes"
_REASCAN_TABLE2 = "Wu et al. 2021, Table 2"
_GSCAN = "Ruis et al. 2020, baseline"


def _table(source: str, model: str, trained_on: str = "", /, **cells: tuple[float, float | None]) -> dict[str, Published]:
    return {split: Published(model, accuracy, deviation, source, trained_on) for split, (accuracy, deviation) in cells.items()}


_TABLES: list[tuple[str, dict[str, Published]]] = [
    ("scan", _table(_NACS, "GRU +Attn", simple=(100.0, 0.0), length=(18.1, 1.1), addprim_turn_left=(59.1, 16.8), addprim_jump=(12.5, 6.6))),
    ("scan", _table(_NACS, "GRU +Attn -Dep", simple=(100.0, 0.0), length=(17.8, 1.7), addprim_turn_left=(90.8, 3.6), addprim_jump=(0.7, 0.4))),
    ("nacs", _table(_NACS, "GRU +Attn", simple=(99.8, 0.1), length=(17.2, 1.9), addprim_turn_left=(55.9, 3.5), addprim_jump=(0.0, 0.0))),
    ("nacs", _table(_NACS, "GRU +Attn -Dep", simple=(51.2, 1.2), length=(2.0, 1.4), addprim_turn_left=(16.9, 1.2), addprim_jump=(0.0, 0.0))),
    (
        "reascan",
        _table(
            _REASCAN, "M-LSTM", "all", a1=(50.36, 4.03), a2=(14.65, 0.55), a3=(50.98, 3.69), b1=(52.17, 1.63), b2=(39.41, 1.53),
            c1=(49.68, 2.73), c2=(25.74, 1.36),
        ),
    ),
    (
        "reascan",
        _table(
            _REASCAN, "GCN-LSTM", "all", a1=(92.25, 0.77), a2=(42.05, 4.55), a3=(87.46, 2.22), b1=(69.74, 0.30), b2=(52.80, 2.75),
            c1=(57.01, 7.99), c2=(22.07, 2.66),
        ),
    ),
    ("reascan", _table(_REASCAN_V11, "M-LSTM", "all", simple=(93.83, None), one_clause=(75.59, None), two_clauses=(67.16, None), all=(74.47, None))),
    ("reascan", _table(_REASCAN_V11, "GCN-LSTM", "all", simple=(99.38, None), one_clause=(97.71, None), two_clauses=(95.87, None), all=(97.10, None))),
    (
        "reascan",
        _table(
            _REASCAN_TABLE2, "M-LSTM", simple=(93.64, 2.52), one_clause=(61.28, 1.81), two_clauses=(52.77, 14.6), two_clauses_rd=(89.81, 0.60),
            **{"simple/validation": (93.39, 1.97), "one_clause/validation": (60.68, 3.04), "two_clauses/validation": (53.08, 13.9)},
            **{"two_clauses_rd/validation": (89.56, 0.66), "all/validation": (78.48, 1.38)},
        ),
    ),
    (
        "reascan",
        _table(
            _REASCAN_TABLE2, "GCN-LSTM", simple=(97.86, 1.27), one_clause=(97.19, 0.79), two_clauses=(96.85, 0.75), two_clauses_rd=(97.97, 0.48),
            **{"simple/validation": (98.06, 0.98), "one_clause/validation": (97.25, 0.68), "two_clauses/validation": (96.80, 0.82)},
            **{"two_clauses_rd/validation": (98.14, 0.45), "all/validation": (98.78, 0.55)},
        ),
    ),
    ("gscan", _table(_GSCAN, "multimodal LSTM", compositional=(97.69, 0.22), target_lengths=(2.10, None))),
    (
        "gscan",
        _table(
            _GSCAN, "multimodal LSTM", "compositional", visual=(23.51, None), visual_easier=(54.96, None), situational_1=(0.0, None),
            situational_2=(35.02, None), contextual=(92.52, None), adverb_1=(0.0, None), adverb_2=(22.70, None),
        ),
    ),
]  # fmt: skip

_CLUTRR_TESTS = {
    # train noise, test noise: BiLSTM-attention, GAT (Sinha et al. 2019, Table 2, as per cent)
    ("clean", "clean"): (58, 100),
    ("clean", "supporting"): (76, 24),
    ("clean", "irrelevant"): (70, 51),
    ("clean", "disconnected"): (49, 80),
    ("supporting", "supporting"): (67, 98),
    ("irrelevant", "irrelevant"): (51, 93),
    ("disconnected", "disconnected"): (57, 96),
}
for _column, _model in enumerate(("BiLSTM-attention", "GAT")):
    _cells = {f"robust_{train}/test_{test}": (float(row[_column]), None) for (train, test), row in _CLUTRR_TESTS.items()}
    _TABLES.append(("clutrr", _table("Sinha et al. 2019, Table 2", _model, **_cells)))
for _split, _dev in {"tower_scratch": 80.98, "tower_flipit": 27.22, "scatter_scratch": 70.12, "scatter_flipit": 8.31}.items():
    _source = "Wu et al., workshop version, dev"
    _TABLES.append(("lilgym", _table(_source, "PPO+SF C+BERT", **{f"{_split}/validation": (_dev, None)})))

PUBLISHED: Mapping[tuple[str, str], tuple[Published, ...]] = {
    (family, split): tuple(table[split] for name, table in _TABLES if name == family and split in table)
    for family, table in _TABLES
    for split in table
}
"""(family, split or split/part) -> what was printed about its test set, or about that part."""


def published(family: str, split: str, part: str, recipe: str) -> tuple[Published, ...]:
    """The printed figures that compare with this set; none for a mended recipe or another part."""
    if recipe == "sound":
        return ()
    of_test = PUBLISHED.get((family, split), ()) if part == "test" else ()
    return (*of_test, *PUBLISHED.get((family, f"{split}/{part}"), ()))
