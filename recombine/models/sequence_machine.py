"""The sequence machine: a lexicon of binding levels and templates that turns commands into actions, and back.

Built in. Every word has a level and a template. The loosest word of a command is its root (the rightmost one of several).
What stands left of the root is read in the same way and gives X; what stands right of it gives Y. A template is a row of slots:
an action, X or Y. The filled template is the meaning. A prior prefers short templates, and copies over actions.
Learnt from pairs of command and actions: every word's level and template (`sequence_machine_search`), and which kinds of words
stand below and beside which (`sequence_machine_inverse`, needed only for actions -> command).

There is no network and no gradient. Actions are bytes from 2 on; the bytes 0 and 1 in a template are X and Y.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from recombine.errors import FileError, UsageError, shown
from recombine.files import inside, read_json, write_json
from recombine.schemas import anything, check, listing, mapping, number, pair, record, text, whole

if TYPE_CHECKING:
    from pathlib import Path

    from recombine.core import Example
    from recombine.models.sequence_machine_inverse import Syntax

FILE = "machine.json"
X, Y = b"\x00", b"\x01"
FIRST_ACTION = 2
MOST_ACTIONS = 200
LONGEST_TEMPLATE = 10
LONGEST_MEANING = 120
"""A meaning is cut here, so that no lexicon makes an answer grow without bound."""

Words = tuple[int, ...]
Pair = tuple[Words, bytes]
"""A command as numbers of words, and its actions."""


class Entry(NamedTuple):
    """What the machine knows of a word: how tightly it binds (0 is tightest, lower is looser) and its template."""

    level: float
    template: bytes


Lexicon = Sequence[Entry]
"""The entry of every word, by the word's number."""


class Node(NamedTuple):
    """A reading of a command: the place of its root, and the readings of what stands on either side."""

    root: int
    left: Node | None
    right: Node | None


@functools.lru_cache(maxsize=1 << 18)
def reading(levels: tuple[float, ...], start: int = 0) -> Node | None:
    """The reading of a row of levels whose first place is `start`; None if there is no word."""
    if not levels:
        return None
    low = min(levels)
    root = max(i for i, level in enumerate(levels) if level == low)
    return Node(start + root, reading(levels[:root], start), reading(levels[root + 1 :], start + root + 1))


def filled(template: bytes, x: bytes, y: bytes) -> bytes:
    """The template with X and Y replaced by two meanings."""
    return template.replace(X, x).replace(Y, y)[:LONGEST_MEANING]


def meaning(node: Node | None, words: Words, lexicon: Lexicon) -> bytes:
    """The actions that a reading of these words stands for."""
    if node is None:
        return b""
    root, left, right = node
    return filled(lexicon[words[root]][1], meaning(left, words, lexicon), meaning(right, words, lexicon))


def interpret(words: Words, lexicon: Lexicon) -> bytes:
    """The actions that the command stands for."""
    return meaning(reading(tuple([lexicon[word][0] for word in words])), words, lexicon)


@dataclass(frozen=True)
class SequenceMachineConfig:
    """`searches`: independent searches; the lexicon that is likeliest on the training rows is kept.

    `most_searches`: more searches follow, up to this many in all, while no lexicon explains half of the training commands.
    `per_length`: pool examples of each command length. `error`: nats for one wrong example. `loose`: nats for a word that is no
    atom. `analogy`: nats for words of the same contexts that differ in shape, sides or level. `cheap_copies`: copies cost less
    than actions. `curriculum`: short commands first. `classes`, `frames`, `neighbours`: what the inverse learns of the syntax.
    """

    searches: int = 3
    most_searches: int = 10
    per_length: int = 80
    error: float = 10.0
    loose: float = 0.1
    analogy: float = 3.0
    cheap_copies: bool = True
    curriculum: bool = True
    classes: bool = True
    frames: bool = True
    neighbours: bool = True


class Alphabet(NamedTuple):
    """The words and the actions that training showed, sorted."""

    words: tuple[str, ...]
    actions: tuple[str, ...]

    def command(self, said: str) -> Words | None:
        """The numbers of a command's words; None if one of them was never seen."""
        known = _numbers(self.words)
        listed = tuple(known.get(word, -1) for word in said.split())
        return None if -1 in listed else listed

    def meaning(self, told: str) -> bytes | None:
        """Actions as bytes; None if one of them was never seen."""
        known = _numbers(self.actions)
        listed = [known.get(action, -1) for action in told.split()]
        return None if -1 in listed else bytes(FIRST_ACTION + i for i in listed)

    def told(self, actions: bytes) -> str:
        """Actions as text."""
        return " ".join(self.actions[a - FIRST_ACTION] for a in actions)

    def said(self, words: Words) -> str:
        """A command as text."""
        return " ".join(self.words[word] for word in words)

    def template(self, template: bytes) -> str:
        """A template as people read it: `LEFT X`."""
        names = {0: "X", 1: "Y"}
        return " ".join(names.get(slot) or printed(self.actions[slot - FIRST_ACTION]) for slot in template) or "nothing"


def printed(action: str) -> str:
    """The short name of an action in a printed lexicon: `I_JUMP` is `JUMP`."""
    return action.removeprefix("I_")


@functools.lru_cache(maxsize=64)
def _numbers(names: tuple[str, ...]) -> Mapping[str, int]:
    return {name: i for i, name in enumerate(names)}


def sides(example: Example) -> tuple[str, str, bool]:
    """Command and actions of an example, and whether the actions are the answer. An example of another kind is an error."""
    for asked, is_forward in (("command", True), ("actions", False)):
        if set(example.inputs) == {asked}:
            given = str(example.inputs[asked])
            return (given, example.answer, True) if is_forward else (example.answer, given, False)
    raise UsageError(
        f"the sequence machine reads a command or actions and nothing else (scan, nacs), but this example has {shown(sorted(example.inputs))}."
    )


def alphabet_of(examples: Sequence[Example]) -> Alphabet:
    """The words and actions of these examples."""
    words, actions = set[str](), set[str]()
    for example in examples:
        command, told, _ = sides(example)
        words.update(command.split())
        actions.update(told.split())
    if len(actions) > MOST_ACTIONS:
        raise UsageError(f"the sequence machine knows at most {MOST_ACTIONS} actions, but these examples have {len(actions)}.")
    return Alphabet(tuple(sorted(words)), tuple(sorted(actions)))


def pairs_of(examples: Sequence[Example], alphabet: Alphabet) -> list[Pair]:
    """The examples as numbers, one each, copies included. All words must be known."""
    found = []
    for example in examples:
        command, told, _ = sides(example)
        words, actions = alphabet.command(command), alphabet.meaning(told)
        if words is None or actions is None:
            raise UsageError(f"{example.id} has a word or an action that the alphabet lacks.")
        found.append((words, actions))
    return found


class SequenceMachine:
    """A learnt lexicon that answers: SCAN by running it, NACS by inverting it."""

    NAME: ClassVar[str] = "sequence-machine"
    Config: ClassVar[type[SequenceMachineConfig]] = SequenceMachineConfig
    BUILT_IN: ClassVar[tuple[str, ...]] = (
        "an operator-precedence reader: the loosest word of a span is its root",
        "templates of at most 10 slots (an action, the left meaning, the right meaning)",
        "a prior: short templates, copies cheaper than actions, like words of like contexts",
        "for NACS: the inverse of the learnt machine is searched, not learnt",
    )
    LEARNT: ClassVar[tuple[str, ...]] = (
        "every word's binding level and template",
        "for NACS: which kinds of words stand below and beside which",
    )

    def __init__(self, config: SequenceMachineConfig, alphabet: Alphabet, lexicon: Lexicon, syntax: Syntax) -> None:
        self.config, self.alphabet, self.lexicon, self.syntax = config, alphabet, tuple(lexicon), syntax

    def answer(self, example: Example) -> str:
        """Actions for a command, or a command for actions; empty if a word or an action was never trained, or nothing fits."""
        value = next(iter(example.inputs.values()))
        if set(example.inputs) == {"command"}:
            words = self.alphabet.command(str(value))
            return "" if words is None else self.alphabet.told(interpret(words, self.lexicon))
        if set(example.inputs) != {"actions"}:
            sides(example)  # tells which families it reads
        actions = self.alphabet.meaning(str(value))
        return "" if actions is None else self.alphabet.said(self.syntax.command(actions))

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order; reads inputs only."""
        return [self.answer(example) for example in examples]

    def sizes(self) -> dict[str, int]:
        """What was learnt, counted."""
        return {
            "words": len(self.lexicon),
            "slots": sum(len(entry.template) for entry in self.lexicon),
            "levels": len({entry.level for entry in self.lexicon}),
            "kinds": len(self.syntax.words),
            "links": sum(map(len, self.syntax.below.values())),
        }

    def lines(self) -> list[tuple[str, ...]]:
        """The lexicon as rows of a table: word, level, template; loosest words first."""
        order = sorted(range(len(self.lexicon)), key=lambda w: (self.lexicon[w].level, self.alphabet.words[w]))
        return [
            (self.alphabet.words[w], f"{self.lexicon[w].level:g}", self.alphabet.template(self.lexicon[w].template))
            for w in order
        ]

    def as_json(self) -> dict[str, Any]:
        """The machine as a JSON value."""
        return {
            "machine": self.NAME,
            "config": asdict(self.config),
            "words": list(self.alphabet.words),
            "actions": list(self.alphabet.actions),
            "lexicon": [[entry.level, list(entry.template)] for entry in self.lexicon],
            "syntax": self.syntax.as_json(),
        }

    def save(self, folder: Path) -> None:
        """Write `machine.json`."""
        write_json(folder / FILE, self.as_json())

    @classmethod
    def load(cls, folder: Path) -> SequenceMachine:
        """The machine of a run's folder."""
        path = inside(folder, FILE)
        return cls.from_json(read_json(path), shown(str(path)))

    @classmethod
    def from_json(cls, value: Any, place: str) -> SequenceMachine:
        """The machine that `as_json` wrote; anything else is an error that names the place."""
        from recombine.models.sequence_machine_inverse import Syntax

        check(value, SHAPE, place)
        alphabet = Alphabet(tuple(value["words"]), tuple(value["actions"]))
        slots = range(FIRST_ACTION + len(alphabet.actions))
        lexicon = []
        for item in value["lexicon"]:
            if len(item[1]) > LONGEST_TEMPLATE or any(slot not in slots for slot in item[1]):
                raise FileError(
                    f"{place} has the lexicon entry {shown(item)}; an entry is a level and at most {LONGEST_TEMPLATE} slots."
                )
            lexicon.append(Entry(item[0], bytes(item[1])))
        if len(lexicon) != len(alphabet.words):
            raise FileError(f"{place} has {len(alphabet.words)} words but {len(lexicon)} lexicon entries.")
        try:
            config = SequenceMachineConfig(**value["config"])
            return cls(config, alphabet, lexicon, Syntax.from_json(value["syntax"], lexicon, config))
        except (TypeError, ValueError, KeyError, IndexError) as problem:
            raise FileError(f"{place} is no sequence machine: {str(problem)[:200]}.") from None


SHAPE = record(
    {
        "machine": text(100),
        "config": mapping(anything),
        "words": listing(text(200)),
        "actions": listing(text(200)),
        "lexicon": listing(pair(number(), listing(whole(0, 255)))),
        "syntax": mapping(anything),
    }
)
"""What the file of a sequence machine holds."""
