"""Training the sequence machine: several searches, of which the likeliest lexicon on the training rows is kept.

Every finished search is written down, so a killed run repeats only the one that was under way.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from recombine import keys
from recombine.errors import UsageError, shown
from recombine.files import inside, read_json, write_json
from recombine.models.sequence_machine import (
    Alphabet,
    Entry,
    Pair,
    SequenceMachine,
    SequenceMachineConfig,
    alphabet_of,
    pairs_of,
)
from recombine.models.sequence_machine_inverse import Syntax
from recombine.models.sequence_machine_search import Search, figures
from recombine.schemas import check, listing, number, pair, record, whole

if TYPE_CHECKING:
    from recombine.models.machines import Task

DONE = "progress.json"
SHAPE = record(
    {
        "seconds": number(0),
        "cpu_seconds": number(0),
        "searches": listing(
            record(
                {
                    "wrong": whole(), "price": number(), "changes": whole(), "evaluations": whole(), "rows": whole(),
                    "lexicon": listing(pair(number(), listing(whole(0, 255)))),
                }
            )
        ),
    }
)  # fmt: skip


def train(task: Task) -> tuple[SequenceMachine, dict[str, Any]]:
    """The learnt machine, and what every search found."""
    examples = list(task.rows)
    if not examples:
        raise UsageError("training needs at least one example.")
    alphabet = alphabet_of(examples)
    pairs = pairs_of(examples, alphabet)
    wall, cpu = time.monotonic(), time.process_time()
    done: dict[str, Any] = {"seconds": 0.0, "cpu_seconds": 0.0, "searches": []}
    path = inside(task.out, DONE)
    if path.is_file():
        done = read_json(path)
        check(done, SHAPE, shown(str(path)))
    spent: dict[str, float] = {"seconds": done["seconds"], "cpu_seconds": done["cpu_seconds"]}
    found: list[dict[str, Any]] = done["searches"]
    while is_more_wanted(found, task.config):
        turn = len(found)
        found.append(one_search(pairs, alphabet, task.config, task.seed, turn))
        told = found[-1]
        task.say(
            f"search {turn + 1}: {told['wrong']:,} of {told['rows']:,} training commands wrong, "
            f"prior {told['price']:.1f} nats, {told['changes']} changes"
        )
        now = {
            "seconds": spent["seconds"] + time.monotonic() - wall,
            "cpu_seconds": spent["cpu_seconds"] + time.process_time() - cpu,
        }
        write_json(path, {**now, "searches": found})
    best = min(found, key=lambda one: one["wrong"] * task.config.error + one["price"])
    lexicon = [Entry(level, bytes(template)) for level, template in best["lexicon"]]
    machine = SequenceMachine(task.config, alphabet, lexicon, Syntax.learn(pairs, lexicon, task.config))
    kept = [{name: value for name, value in one.items() if name != "lexicon"} for one in found]
    return machine, {"spent": spent, "searches": kept, "training_commands_wrong": best["wrong"]}


def best_search(pairs: list[Pair], alphabet: Alphabet, config: SequenceMachineConfig, seed: int) -> dict[str, Any]:
    """The first search that explains every pair, or the last of `most_searches`."""
    found = one_search(pairs, alphabet, config, seed, 0)
    for turn in range(1, config.most_searches):
        if not found["wrong"]:
            break
        found = one_search(pairs, alphabet, config, seed, turn)
    return found


def is_more_wanted(found: list[dict[str, Any]], config: SequenceMachineConfig) -> bool:
    """Whether another search follows: always up to `searches`, then as long as none of them explains half of the commands."""
    if len(found) < config.searches:
        return True
    return len(found) < config.most_searches and all(2 * one["wrong"] > one["rows"] for one in found)


def one_search(pairs: list[Pair], alphabet: Alphabet, config: SequenceMachineConfig, seed: int, turn: int) -> dict[str, Any]:
    """One search to the end: its figures and its lexicon, ready for JSON."""
    search = Search(pairs, alphabet, config, keys.Stream("sequence machine", seed, turn))
    search.learn()
    return {**figures(search), "lexicon": [[entry.level, list(entry.template)] for entry in search.lexicon]}
