"""Examples of grid worlds for people, prompts and pixels.

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
from recombine.grid.matching import Description
from recombine.grid.play import parse_actions, trail

MEDIA: tuple[Medium, ...] = ("text", "ascii", "svg", "png", "graph")


def render(example: Example, said: Description, medium: Medium) -> str | bytes:
    """The example, whose command describes its target as `said`, in one medium; the top of this file says what gives it away."""
    if medium == "text":
        return f"{describe(example.world)}\nCommand: {example.inputs['command']}"
    if medium == "ascii":
        return f"{example.inputs['command']}\n{ascii_map(example.world, 0)}\n{example.answer.replace(',', ', ')}"
    if medium == "svg":
        return picture(example, show_answer=True).svg()
    if medium == "png":
        return picture(example, show_answer=False).png()
    if medium == "graph":
        return relation_graph(example.world, said, str(example.inputs["command"])).svg()
    raise UnknownName("medium", medium, MEDIA)


def picture(example: Example, show_answer: bool) -> Canvas:
    """The world under its command, with or without the target, the roles and the way."""
    path = trail(example.world, parse_actions(example.answer) or ()) if show_answer else ()
    return draw(example.world, str(example.inputs["command"]), show_roles=show_answer, path=path)
