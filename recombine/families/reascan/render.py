"""Examples for people, prompts and pixels.

`text` and `png` show what a model may see and nothing else. `ascii`, `svg` and `graph` are for people: they mark the target,
and `svg` also the roles of the other objects and the agent's way.
"""

from __future__ import annotations

from recombine.core import Example, Medium
from recombine.errors import UnknownName
from recombine.grid.canvas import Canvas
from recombine.grid.describe import ascii_map, describe
from recombine.grid.draw import draw
from recombine.grid.graph import relation_graph
from recombine.grid.play import parse_actions, replay

MEDIA: tuple[Medium, ...] = ("text", "ascii", "svg", "png", "graph")


def render(example: Example, medium: Medium) -> str | bytes:
    """The example in one medium; see the top of this file for which of them give the target away."""
    if medium == "text":
        return f"{describe(example.world)}\nCommand: {example.inputs['command']}"
    if medium == "ascii":
        return f"{example.inputs['command']}\n{ascii_map(example.world, 0)}\n{example.answer.replace(',', ', ')}"
    if medium == "svg":
        return picture(example, show_answer=True).svg()
    if medium == "png":
        return picture(example, show_answer=False).png()
    if medium == "graph":
        return relation_graph(example.world, example.plan.description, str(example.inputs["command"])).svg()
    raise UnknownName("medium", medium, MEDIA)


def picture(example: Example, show_answer: bool) -> Canvas:
    """The world under its command, with or without the target, the roles and the way."""
    path = replay(example.world, parse_actions(example.answer) or ()).cells if show_answer else ()
    return draw(example.world, str(example.inputs["command"]), show_roles=show_answer, path=path)
