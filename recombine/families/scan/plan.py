"""What is said: SCAN's phrase-structure grammar as a plan tree, its meaning, and the canonical order of all commands.

    C -> S and S | S after S | S             a command        Command
    S -> V twice | V thrice | V              a clause         Clause
    V -> D[1] opposite D[2] | D[1] around D[2] | D | U         a phrase         Phrase
    D -> U left | U right | turn left | turn right
    U -> walk | look | run | jump

34 phrases, 102 clauses, 102 + 2 * 102**2 = 20,910 commands. Inside the package a sequence of actions is a string of
letters, one per action (`W L R J < >`), so that meaning is concatenation; `format_actions` and `parse_actions` are the
two ways between letters and tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

VERBS = ("walk", "look", "run", "jump")
MANNERS = ("", "opposite", "around")
SIDES = ("left", "right")
REPEATS = ("", "twice", "thrice")
CONJUNCTIONS = ("", "and", "after")

ACTS = {"walk": "W", "look": "L", "run": "R", "jump": "J", "turn": ""}
"""The letter of each verb; `turn` adds no action to the turn of its side."""
TURNS = {"": "", "left": "<", "right": ">"}
STYLES = {
    "file": {"W": "I_WALK", "L": "I_LOOK", "R": "I_RUN", "J": "I_JUMP", "<": "I_TURN_LEFT", ">": "I_TURN_RIGHT"},
    "paper": {"W": "WALK", "L": "LOOK", "R": "RUN", "J": "JUMP", "<": "LTURN", ">": "RTURN"},
}
"""The two spellings of the actions: the released files', and the papers'."""
LETTERS = {token: letter for tokens in STYLES.values() for letter, token in tokens.items()}


@dataclass(frozen=True, slots=True)
class Phrase:
    """V: a verb, perhaps with a side, perhaps `opposite` or `around`; `turn` always has a side."""

    verb: str
    manner: str = ""
    side: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.verb, self.manner, self.side) if word)

    def actions(self) -> str:
        """The meaning: turn first, then act; `opposite` turns twice before, `around` turns and acts four times."""
        turn, act = TURNS[self.side], ACTS[self.verb]
        if self.manner == "around":
            return (turn + act) * 4
        return turn * (2 if self.manner == "opposite" else 1) + act


@dataclass(frozen=True, slots=True)
class Clause:
    """S: a phrase done once, twice or thrice."""

    phrase: Phrase
    times: int = 1

    def __str__(self) -> str:
        return f"{self.phrase} {REPEATS[self.times - 1]}".rstrip()

    def actions(self) -> str:
        """The meaning: the phrase's actions, `times` times."""
        return self.phrase.actions() * self.times


@dataclass(frozen=True, slots=True)
class Command:
    """C: one clause, or two joined by `and` (in the order said) or `after` (the second is done first)."""

    first: Clause
    conjunction: str = ""
    second: Clause | None = None

    def __str__(self) -> str:
        return str(self.first) if self.second is None else f"{self.first} {self.conjunction} {self.second}"

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The one or two clauses in the order said."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def actions(self) -> str:
        """The meaning of the whole command, as letters."""
        said = [clause.actions() for clause in self.clauses]
        return "".join(reversed(said) if self.conjunction == "after" else said)


PHRASES: tuple[Phrase, ...] = (
    *(Phrase(verb) for verb in VERBS),
    *(Phrase(verb, manner, side) for verb, manner, side in product((*VERBS, "turn"), MANNERS, SIDES)),
)
CLAUSES: tuple[Clause, ...] = tuple(Clause(phrase, times) for phrase, times in product(PHRASES, (1, 2, 3)))
PAIRS = len(CLAUSES) ** 2
SIZE = len(CLAUSES) + 2 * PAIRS


def plan_at(index: int) -> Command:
    """The command at this place of the canonical order: single clauses, then `and`, then `after`; first clause slowest."""
    if not 0 <= index < SIZE:
        raise IndexError(f"SCAN has commands 0 to {SIZE - 1}, not {index}")
    if index < len(CLAUSES):
        return Command(CLAUSES[index])
    joint, pair = divmod(index - len(CLAUSES), PAIRS)
    first, second = divmod(pair, len(CLAUSES))
    return Command(CLAUSES[first], CONJUNCTIONS[1 + joint], CLAUSES[second])


def template(command: Command) -> str:
    """The command with its verbs and sides taken out: `VERB opposite SIDE twice and turn SIDE`; 903 of them."""

    def blank(clause: Clause) -> str:
        phrase = clause.phrase
        verb = phrase.verb if phrase.verb == "turn" else "VERB"
        return str(Clause(Phrase(verb, phrase.manner, "SIDE" if phrase.side else ""), clause.times))

    return f" {command.conjunction} ".join(blank(clause) for clause in command.clauses)


def format_actions(letters: str, style: str = "file") -> str:
    """Letters as the tokens of a style, separated by blanks."""
    tokens = STYLES[style]
    return " ".join(tokens[letter] for letter in letters)


def parse_actions(text: str) -> str | None:
    """Tokens of either style, separated by blanks, as letters; None if a token is not an action."""
    try:
        return "".join([LETTERS[token] for token in text.split()])
    except KeyError:
        return None


def style_of(text: str) -> str:
    """The style in which these actions are written (by their first token; `file` when there is none)."""
    first = text[:20].split(maxsplit=1)[:1]
    return "paper" if first and first[0] in STYLES["paper"].values() else "file"
