"""Kinship stories: choose one of the 22 words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from recombine.core import Example
from recombine.families.clutrr.kinship import CONVENTION, RELATIONS
from recombine.families.clutrr.plan import StoryPlan
from recombine.serve.boards.base import View, labelled, unknown


class KinBoard:
    """The state is the chosen word."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """22 buttons under the gap to be filled."""
        plan: StoryPlan = example.plan
        x, y = (plan.names[p] for p in plan.query)
        people = ", ".join(f"{n} ({('female', 'male')[g]})" for n, g in zip(plan.names, plan.genders, strict=True))
        hint = f"{y} is the ___ of {x}. People: {people}. {CONVENTION}"
        return View(state, said=said, hint=hint, choices=RELATIONS)

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:  # noqa: ARG002
        """Nothing but choosing."""
        raise unknown(event)

    def question(self, example: Example) -> str:
        """Story and question."""
        return f"{example.inputs['story']}\n\n{example.inputs['question']}"

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:  # noqa: ARG002
        """The family tree; the people whom the last step names are marked."""
        step = proof[-1] if proof else ""
        svg = str(example.render("svg"))
        for name in example.plan.names:
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", step):
                svg = svg.replace(f">{name}</text>", f' class="marked">{name}</text>')
        return labelled(svg, "the family tree")

    def film(self, example: Example) -> Sequence[str]:  # noqa: ARG002
        """Nothing moves."""
        return ()
