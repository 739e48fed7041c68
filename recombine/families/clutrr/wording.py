"""Telling the path alone: a story's own paraphrases without the noise, in path order."""

from __future__ import annotations

import numpy as np

from recombine import kernels
from recombine.core import Example
from recombine.families.clutrr.language import realize, store
from recombine.families.clutrr.plan import Plan


def clean_story(example: Example) -> str:
    """The text of the facts on the path, each chunk worded as in the story, in path order.

    Where the paraphrases are not ours (original templates, released files) the whole story stands in.
    """
    plan: Plan = example.plan
    if not plan.paraphrases or example.meta.get("options", {}).get("templates"):
        return str(example.inputs["story"])
    style: store.Style = "simple" if example.meta.get("options", {}).get("language") == "simple" else "paraphrase"
    tables = store.tables(style)
    kernel = kernels.load(realize.KERNEL_MODULE, compiled=False)
    name_bytes, name_offsets = realize.name_table(plan.names)
    facts = np.array([fact.triple for fact in plan.facts], np.int32)
    out = np.zeros(store.room(tables, 3, int(np.diff(name_offsets).max())), np.uint8)
    people, genders = np.arange(len(plan.names), dtype=np.int32), np.array(plan.genders, np.int8)
    told, at = [], 0
    for code in plan.paraphrases:
        paraphrase = code >> 1
        frame = paraphrase if style == "simple" else store.paraphrases()[paraphrase].frame
        length = store.frames(style)[frame].facts
        if plan.facts[at].place >= 0:
            end = kernel.write_chunk(facts, at, length, code, genders, people, name_bytes, name_offsets, False, tables, out, 0)
            told.append((plan.facts[at].place, bytes(out[:end]).decode()))
        at += length
    return " ".join(text for _, text in sorted(told))
