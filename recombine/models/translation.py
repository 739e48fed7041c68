"""The translation probe of the NACS paper: English–French in both directions, with an adjective that is met in one sentence only.

Trained on sentence pairs plus a thousand copies of "i am daxy ." / "je suis daxiste .", can a model say "you are not daxy ."?
`tired` is the control: an adjective that training holds in many sentences. The pairs come from a folder of the user's
(`train.src`, `train.trg`, `test.src`, `test.trg`, and the eight probes `test.daxy.*`, `test.tired.*`; plain or gzip, English is
`src`), or from the small grammar below, so that the experiment runs without any file.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from recombine import keys
from recombine.core import Example, Family, Score
from recombine.errors import FileError, shown
from recombine.files import read_lines
from recombine.models.batching import permutation

Pair = tuple[str, str]
COPIES = 1_000
"""How often the one daxy sentence is repeated, as in the paper's data."""
DAXY: Pair = ("i am daxy .", "je suis daxiste .")

# --- the grammar -----------------------------------------------------------------------------------------------------

SUBJECTS = (
    ("i am", "je", "suis", 0), ("you are", "tu", "es", 0), ("he is", "il", "est", 0),
    ("she is", "elle", "est", 1), ("we are", "nous", "sommes", 2), ("they are", "ils", "sont", 2),
)  # fmt: skip
"""English subject and verb; French subject, verb, and form: masculine, feminine, plural."""
ADVERBS = (("", ""), ("very", "tres"), ("too", "trop"), ("often", "souvent"), ("still", "encore"), ("really", "vraiment"))
REGULAR = (
    "tired fatigue", "big grand", "small petit", "happy content", "strong fort", "busy occupe", "alone seul", "late en+retard",
    "sure certain", "tall haut", "angry fache", "surprised surpris", "worried inquiet/inquiete", "ready pret", "lost perdu",
    "hungry affame", "wounded blesse", "married marie", "hidden cache", "awake reveille", "rich riche", "poor pauvre",
    "young jeune", "sad triste", "sick malade", "calm calme", "famous celebre", "polite poli", "naughty mechant",
    "patient patient", "absent absent", "present present", "brave courageux/courageuse", "serious serieux/serieuse",
    "nervous nerveux/nerveuse", "jealous jaloux/jalouse", "lazy paresseux/paresseuse", "careful prudent", "clever malin/maligne",
    "right juste", "free libre", "honest honnete", "weak faible", "thin mince", "stupid idiot", "proud fier/fiere", "mad fou/folle",
    "old vieux/vieille", "new nouveau/nouvelle", "kind gentil/gentille", "naive naif/naive", "active actif/active",
)  # fmt: skip
"""English and French masculine; the feminine after a slash, where it is not the masculine with (one) final e."""


def _forms(french: str) -> tuple[str, str, str]:
    """Masculine, feminine and plural of a French adjective (accents are left out, as in the paper's files)."""
    masculine, _, given = french.partition("/")
    if "+" in masculine:
        fixed = masculine.replace("+", " ")
        return fixed, fixed, fixed
    feminine = given or (masculine if masculine.endswith("e") and not masculine.endswith(_PARTICIPLES) else masculine + "e")
    plural = masculine + ("x" if masculine.endswith("eau") else "" if masculine[-1] in "sx" else "s")
    return masculine, feminine, plural


_PARTICIPLES = ("fatigue", "occupe", "fache", "affame", "blesse", "marie", "cache", "reveille")
"""Words in -é once the accent is gone: they do take an e in the feminine."""


def sentence(subject: int, adverb: int, negated: bool, english: str, french: str) -> Pair:
    """One pair of the grammar: `you are not very tired .` / `tu n es pas tres fatigue .`"""
    start, pronoun, verb, form = SUBJECTS[subject]
    adverb_en, adverb_fr = ADVERBS[adverb]
    said = [start, "not" if negated else "", adverb_en, english, "."]
    deny = "n" if verb[0] in "aeiou" else "ne"
    dit = [pronoun, f"{deny} {verb} pas" if negated else verb, adverb_fr, _forms(french)[form], "."]
    return " ".join(word for word in said if word), " ".join(word for word in dit if word)


def probes(english: str, french: str) -> list[Pair]:
    """The paper's eight sentences: you and he are; I, you and he are not; I, you and he are very."""
    frames = [
        (1, 0, False),
        (2, 0, False),
        (0, 0, True),
        (1, 0, True),
        (2, 0, True),
        (0, 1, False),
        (1, 1, False),
        (2, 1, False),
    ]
    return [sentence(subject, adverb, negated, english, french) for subject, adverb, negated in frames]


@functools.cache
def grammar_pairs() -> dict[str, list[Pair]]:
    """All sentences of the grammar, a tenth of them for testing; the eight `tired` probes are in neither set."""
    listed = [
        sentence(subject, adverb, negated, *word.split())
        for word in REGULAR for subject in range(len(SUBJECTS)) for adverb in range(len(ADVERBS)) for negated in (False, True)
    ]  # fmt: skip
    tired = probes("tired", "fatigue")
    kept = [pair for pair in listed if pair not in tired]
    order = permutation(len(kept), "translation", "grammar")
    cut = len(kept) // 10
    return {
        "test": [kept[i] for i in order[:cut]],
        "train": [kept[i] for i in order[cut:]],
        "daxy": probes("daxy", "daxiste"),
        "tired": tired,
    }


# --- the files -------------------------------------------------------------------------------------------------------


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileError(
        f"{shown(str(folder))} has no {name} (or {name}.gz); the probe needs train, test, test.daxy and test.tired."
    )


@functools.cache
def file_pairs(folder: str) -> dict[str, list[Pair]]:
    """The pairs of a folder, by part."""
    found: dict[str, list[Pair]] = {}
    for part, name in (("train", "train"), ("test", "test"), ("daxy", "test.daxy"), ("tired", "test.tired")):
        sides = [[line for _, line in read_lines(_file(Path(folder), f"{name}.{side}"))] for side in ("src", "trg")]
        if len(sides[0]) != len(sides[1]):
            raise FileError(f"{name}.src and {name}.trg of {shown(folder)} have {len(sides[0])} and {len(sides[1])} lines.")
        found[part] = list(zip(*sides, strict=True))
    return found


@functools.cache
def folder_hash(folder: str) -> str:
    """8 hex digits for the pairs of a folder."""
    pairs = file_pairs(folder)
    return keys.digest(*(text for part in pairs for text in (part, *(side for pair in pairs[part] for side in pair)))).hex()[:8]


# --- the experiment's rows -------------------------------------------------------------------------------------------


class _Sentences:
    """What an example of this probe needs of a family: exact match of words."""

    NAME = "translation"

    def score(self, example: Example, answer: str) -> Score:
        """Right iff the words are the reference's."""
        is_right = answer.split() == example.answer.split()
        return Score(float(is_right), "right" if is_right else "wrong")


_FAMILY = cast("Family", _Sentences())


def bleu(examples: Sequence[Example], answers: Sequence[str]) -> float:
    """Corpus BLEU by sacrebleu on the words as they stand, from 0 to 1."""
    import sacrebleu

    found = sacrebleu.corpus_bleu(list(answers), [[e.answer for e in examples]], tokenize="none", force=True)
    return float(found.score) / 100


@dataclass(frozen=True)
class Translation:
    """The rows of one direction, with or without the daxy sentence in training; keeps the form of `experiments.Source`.

    A share of training is held out for validation: 985 of 9,999 in the paper's data, about a tenth here.
    """

    direction: str = "en-fr"
    with_daxy: bool = False
    files: str = ""
    fit: str = "fit"
    validation: str = "validation"

    @property
    def tests(self) -> tuple[str, ...]:
        """What is measured after training."""
        return ("test", "daxy") if self.with_daxy else ("test", "tired")

    def name(self) -> str:
        """The source as part of a folder's name: other pairs have another name."""
        pairs = f"files={folder_hash(self.files)}" if self.files else "grammar"
        return f"mt-{pairs}-{self.direction}{'-daxy' if self.with_daxy else ''}"

    def metric(self, examples: Sequence[Example], answers: Sequence[str]) -> float:
        """BLEU: what validation goes by."""
        return bleu(examples, answers)

    def measures(self, examples: Sequence[Example], answers: Sequence[str]) -> dict[str, Any]:
        """BLEU, in addition to the share of exact matches."""
        return {"bleu": bleu(examples, answers)}

    def is_measured(self, record: Mapping[str, Any]) -> bool:
        """Whether BLEU is there."""
        return "bleu" in record

    def load(self, part: str, rows: int, seed: int) -> list[Example]:  # noqa: ARG002
        """The rows of a part, at most `rows` of them (0: all)."""
        found = list(self._examples(part))
        return found[:rows] if rows else found

    def _examples(self, part: str) -> Iterator[Example]:
        pairs = file_pairs(self.files) if self.files else grammar_pairs()
        listed = pairs.get(part, [])
        if part in ("fit", "validation"):
            everything = pairs["train"] + [DAXY] * (COPIES if self.with_daxy else 0)
            order = permutation(len(everything), "translation", "validation", int(self.with_daxy))
            cut = len(everything) * 985 // 9_999
            listed = [everything[i] for i in (order[:cut] if part == "validation" else sorted(order[cut:]))]
        for i, (english, french) in enumerate(listed):
            source, target = (english, french) if self.direction == "en-fr" else (french, english)
            yield Example(_FAMILY, f"{self.name()}/{part}/{i:06d}", {"sentence": source}, target)
