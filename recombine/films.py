"""Episodes as animated GIFs: the view before every action, with the task above and the action below. Needs Pillow only."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.episodes import Episode

LINE, EDGE, LETTER = 14, 6, 6.2
"""Pixels from line to line, around the text, and of a letter of the built-in font."""
MOST_FRAMES = 400

MARK = b"a film of recombine watch"
"""The comment in every film. A later film replaces only files that have it."""


def play(episode: Episode, replies: Sequence[str] | None = None, *, strict: bool = False) -> list[tuple[bytes, str]]:
    """(picture, caption) before each action and at the end. Without replies the solver's plan is played.

    With `strict`, a reply that names no action is an error; otherwise it is a frame of its own.
    """
    chosen = list(episode.expert() if replies is None else replies)
    if not chosen and replies is None:
        raise UsageError(f"there is no plan for {episode.id}.")
    frames = [(_picture(episode), "the beginning")]
    for number, reply in enumerate(chosen[:MOST_FRAMES], 1):
        if episode.done:
            break
        turn = episode.act(reply)
        if strict and (turn.info.get("error") == "unreadable" or "is no edit" in turn.info["said"]):
            raise UsageError(f"action {number}: {turn.info['said']}")
        said = f" ({turn.info['error']})" if turn.info.get("error") else ""
        end = (" - solved" if episode.solved else " - not solved") if episode.done else ""
        frames.append((_picture(episode), f"{number}. {reply}{said}{end}"))
    return frames


def _picture(episode: Episode) -> bytes:
    _, picture = episode.seen("picture")
    if picture is None:
        raise UsageError(f"{episode.example.family.NAME} draws no pictures.")
    return picture


def film(frames: Sequence[tuple[bytes, str]], title: str, *, seconds: float = 0.6) -> bytes:
    """The frames as a GIF that repeats; the last one stays three times as long."""
    drawn = [_frame(picture, caption, title) for picture, caption in frames]
    palette = drawn[-1].quantize(colors=128)
    coded = [frame.quantize(palette=palette) for frame in drawn]
    lasting = [int(1000 * seconds)] * (len(coded) - 1) + [int(3000 * seconds)]
    out = io.BytesIO()
    coded[0].save(out, "GIF", save_all=True, append_images=coded[1:], duration=lasting, loop=0, optimize=True, comment=MARK)
    return out.getvalue()


def _frame(picture: bytes, caption: str, title: str) -> Any:
    """One picture with the title above and the caption below."""
    from PIL import Image, ImageDraw

    with Image.open(io.BytesIO(picture)) as opened:
        world = opened.convert("RGB")
    width = max(world.width, 240)
    head = textwrap.wrap(_plain(title), max(8, int((width - 2 * EDGE) / LETTER)))
    foot = textwrap.wrap(_plain(caption), max(8, int((width - 2 * EDGE) / LETTER)))[:2]
    top = EDGE + LINE * len(head)
    frame = Image.new("RGB", (width, top + world.height + 2 * LINE + EDGE), "white")
    frame.paste(world, ((width - world.width) // 2, top))
    pen = ImageDraw.Draw(frame)
    for k, line in enumerate(head):
        pen.text((EDGE, EDGE // 2 + LINE * k), line, fill="black")
    for k, line in enumerate(foot):
        pen.text((EDGE, top + world.height + 2 + LINE * k), line, fill="black")
    return frame


def _plain(text: str) -> str:
    """The text without what the built-in font lacks."""
    return text.replace("→", "->").replace("−", "-").encode("latin-1", "replace").decode("latin-1")
