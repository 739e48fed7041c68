"""Pictures of scenes: the 380 × 100 canvas, the half-size observation, PNG, SVG, characters; an episode as filmstrip and GIF.

A picture is a pure function of the scene. Every shape is a fixed stack of row spans; there is no anti-aliasing.
"""

from __future__ import annotations

import functools
import io
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.core import Example, Medium
from recombine.errors import UnknownName
from recombine.families.lilgym.play.geometry import KIND_COUNT
from recombine.families.lilgym.scene import BOX_COUNT, BOX_SIDE, CIRCLE, SIZES, SQUARE, Items, Scene
from recombine.grid.pixels import encode_codes

if TYPE_CHECKING:
    from PIL import Image

WIDTH, HEIGHT, STRIDE = 380, 100, 140
PALETTE = np.array([(211, 211, 211), (128, 128, 128), (250, 255, 0), (0, 0, 0), (15, 131, 255)], np.uint8)
"""By canvas code: box, separator, yellow, black, blue."""
OBSERVATION_SHAPE = (HEIGHT // 2, WIDTH // 2, 3)
_CIRCLE_WIDTHS = {
    10: (4, 6, 8, 10, 10),
    20: (6, 10, 12, 14, 16, 18, 18, 20, 20, 20),
    30: (8, 12, 16, 18, 20, 22, 24, 26, 26, 28, 28, 30, 30, 30, 30),
}
"""Pixels in each row of a circle's upper half."""

Pixels = NDArray[np.uint8]
_SAME_AS_ABOVE = 2
"""The PNG filter whose bytes are differences from the line above: zeros repeat that line."""


@functools.cache
def spans() -> NDArray[np.int64]:
    """[kind, row] -> first pixel and the one after the last, from the shape's left edge."""
    table = np.zeros((KIND_COUNT, SIZES[-1], 2), np.int64)
    for kind in range(KIND_COUNT):
        shape, size = kind // 3, SIZES[kind % 3]
        for row in range(size):
            table[kind, row] = _span(shape, size, row)
    return table


def _span(shape: int, size: int, row: int) -> tuple[int, int]:
    if shape == SQUARE:
        return 0, size
    if shape == CIRCLE:
        width = _CIRCLE_WIDTHS[size][min(row, size - 1 - row)]
        return (size - width) // 2, (size + width) // 2
    start = size // 2 - (row + 1) // 2
    return start, start + row + 1


@functools.cache
def blend() -> Pixels:
    """The colour of a half-size pixel from its four canvas codes, read as a number in base 5."""
    codes = np.indices((5, 5, 5, 5)).reshape(4, -1)
    mean: Pixels = (PALETTE.astype(np.int64)[codes].sum(0) // 4).astype(np.uint8)
    return mean


@functools.cache
def blank() -> Pixels:
    """The canvas codes of an empty scene."""
    columns: Pixels = (np.arange(WIDTH) % STRIDE >= BOX_SIDE).astype(np.uint8)
    return np.tile(columns, (HEIGHT, 1))


@functools.cache
def blank_observation() -> Pixels:
    """The half-size image of an empty scene."""
    return _halved(blank())


def _halved(codes: Pixels) -> Pixels:
    index = codes[0::2, 0::2].astype(np.int64) * 125 + codes[0::2, 1::2] * 25 + codes[1::2, 0::2] * 5 + codes[1::2, 1::2]
    halved: Pixels = blend()[index]
    return halved


def codes_of(scene: Scene) -> Pixels:
    """The scene's canvas (100, 380) in codes of `PALETTE`; items beyond the canvas are cut."""
    codes = blank().copy()
    for item in scene.items:
        left, top = STRIDE * item.box + item.x, item.y
        above, before = max(0, -top), max(0, -left)
        mask = _stencil(3 * item.shape + SIZES.index(item.size))[above : max(0, HEIGHT - top), before : max(0, WIDTH - left)]
        if mask.size:
            codes[top + above : top + above + mask.shape[0], left + before : left + before + mask.shape[1]][mask] = (
                2 + item.color
            )
    return codes


@functools.cache
def _stencil(kind: int) -> NDArray[np.bool_]:
    """Which pixels of its square a shape covers."""
    size, columns = SIZES[kind % 3], np.arange(SIZES[kind % 3])
    rows = spans()[kind, :size]
    return (columns >= rows[:, :1]) & (columns < rows[:, 1:])


def picture(scene: Scene) -> Pixels:
    """The scene as RGB, (100, 380, 3)."""
    return PALETTE[codes_of(scene)]


def observation(scene: Scene) -> Pixels:
    """What an agent sees, (50, 190, 3): the mean of each 2 × 2 block of the picture, cut to whole numbers."""
    return _halved(codes_of(scene))


def observations(items: Items, counts: NDArray[np.int64], compiled: bool = True) -> Pixels:
    """`observation` for many packed scenes at once, (n, 50, 190, 3)."""
    images = np.empty((len(counts), *OBSERVATION_SHAPE), np.uint8)
    canvases = np.empty((len(counts), HEIGHT, WIDTH), np.uint8)
    redraw(canvases, images, items, counts, np.arange(len(counts)), compiled)
    return images


def redraw(
    canvases: Pixels, images: Pixels, items: Items, counts: NDArray[np.int64], rows: NDArray[np.int64], compiled: bool
) -> None:
    """Draw the scenes of these rows anew, canvas codes and half-size image, in place."""
    for row in rows.tolist():  # row by row: each is one block of memory, which numpy copies at full speed
        canvases[row] = blank()
        images[row] = blank_observation()
    kernel = kernels.load("recombine.families.lilgym.play.kernel", compiled)
    kernel.draw(canvases, images, spans(), blend(), items, counts, rows)


# --- for people ------------------------------------------------------------------------------------------------------


def _image(scene: Scene, scale: int) -> Image.Image:
    from PIL import Image

    return Image.fromarray(picture(scene)).resize((WIDTH * scale, HEIGHT * scale), Image.Resampling.NEAREST)


def png(scene: Scene, scale: int = 2) -> bytes:
    """The picture as PNG bytes, enlarged by a whole factor. It has five colours, so a pixel takes four bits."""
    wide = np.repeat(codes_of(scene), scale, axis=1)
    wide = np.pad(wide, ((0, 0), (0, wide.shape[1] % 2)))
    lines = np.zeros((HEIGHT, scale, 1 + wide.shape[1] // 2), np.uint8)
    lines[:, 0, 1:] = wide[:, 0::2] << 4 | wide[:, 1::2]
    lines[:, 1:, 0] = _SAME_AS_ABOVE
    return encode_codes(lines.tobytes(), WIDTH * scale, HEIGHT * scale, PALETTE.tobytes())


def _encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def svg(scene: Scene) -> str:
    """The scene as an SVG drawing with true circles and triangles."""
    fills = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in PALETTE.tolist()]
    shapes = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{fills[1]}"/>']
    shapes += [f'<rect x="{STRIDE * b}" width="{BOX_SIDE}" height="{HEIGHT}" fill="{fills[0]}"/>' for b in range(BOX_COUNT)]
    for item in scene.items:
        x, y, s, fill = STRIDE * item.box + item.x, item.y, item.size, fills[2 + item.color]
        if item.shape == CIRCLE:
            shapes.append(f'<circle cx="{x + s // 2}" cy="{y + s // 2}" r="{s // 2}" fill="{fill}"/>')
        elif item.shape == SQUARE:
            shapes.append(f'<rect x="{x}" y="{y}" width="{s}" height="{s}" fill="{fill}"/>')
        else:
            shapes.append(f'<polygon points="{x},{y + s} {x + s},{y + s} {x + s // 2},{y}" fill="{fill}"/>')
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(shapes)}</svg>'


def ascii_art(scene: Scene) -> str:
    """The scene in characters of 5 × 10 pixels: y, k or b for yellow, black or blue, with O, # or ^ in the middle of each item.

    Places are rounded; the exact ones are in `str(scene)`.
    """
    grid = [["."] * 20 + [" "] * 2 + ["."] * 20 + [" "] * 2 + ["."] * 20 for _ in range(10)]
    for item in scene.items:
        left, top = 22 * item.box + min(max((item.x + 2) // 5, 0), 19), min(max((item.y + 5) // 10, 0), 9)
        wide, high = item.size // 5, item.size // 10
        for row in range(top, min(top + high, 10)):
            for column in range(left, min(left + wide, 22 * item.box + 20)):
                grid[row][column] = "ykb"[item.color]
        grid[min(top + high // 2, 9)][min(left + wide // 2, 22 * item.box + 19)] = "O#^"[item.shape]
    return "\n".join("".join(row) for row in grid)


def filmstrip(scenes: Sequence[Scene], captions: Sequence[str], title: str = "", scale: int = 1, columns: int = 3) -> bytes:
    """An episode as one PNG: a frame per scene, read row by row, each with its caption; the title on top."""
    from PIL import Image, ImageDraw

    frames = [_frame(scene, caption, scale) for scene, caption in zip(scenes, captions, strict=True)]
    wide, high = frames[0].size
    across = min(columns, len(frames))
    down = -(-len(frames) // across)
    gap = 8
    lines = _wrapped(title, across * (wide + gap) - gap)
    head = LINE * len(lines) + 10 if lines else 0
    sheet = Image.new("RGB", (across * (wide + gap) + gap, down * (high + gap) + gap + head), "white")
    for k, line in enumerate(lines):
        ImageDraw.Draw(sheet).text((gap, 7 + LINE * k), line, fill="black")
    for k, frame in enumerate(frames):
        sheet.paste(frame, (gap + (k % across) * (wide + gap), head + gap + (k // across) * (high + gap)))
    return _encoded(sheet, "PNG")


def gif(scenes: Sequence[Scene], captions: Sequence[str], title: str = "", scale: int = 2, seconds: float = 0.8) -> bytes:
    """An episode as an animated GIF that repeats, the title on top; the last frame stays three times as long."""
    frames = [_frame(scene, caption, scale, title) for scene, caption in zip(scenes, captions, strict=True)]
    lasting = [int(seconds * 1000)] * (len(frames) - 1) + [int(seconds * 3000)]
    return _encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=lasting, loop=0)


def _frame(scene: Scene, caption: str, scale: int, title: str = "") -> Image.Image:
    """One scene with its caption below, and perhaps a title above."""
    from PIL import Image, ImageDraw

    scene_image = _image(scene, scale)
    lines = _wrapped(title, scene_image.width)
    head = LINE * len(lines) + 4 if lines else 0
    frame = Image.new("RGB", (scene_image.width, head + scene_image.height + 16), "white")
    frame.paste(scene_image, (0, head))
    below = head + scene_image.height + 2
    for line, y in [*((line, 2 + LINE * k) for k, line in enumerate(lines)), (_fitted(caption, frame.width), below)]:
        ImageDraw.Draw(frame).text((2, y), line, fill="black")
    return frame


LINE = 14
"""Pixels from one line of text to the next."""


def _plain(text: str) -> str:
    """The text without what the built-in font lacks: it has no arrows and few letters beyond Latin."""
    return text.replace("→", "->").replace("−", "-")


def _letters(width: int) -> int:
    """How many letters of the built-in font are sure to fit into this many pixels."""
    return max(4, int(width / 6.2))


def _fitted(text: str, width: int) -> str:
    """The text cut to about `width` pixels."""
    plain, most = _plain(text), _letters(width)
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines of about `width` pixels, whole words."""
    return textwrap.wrap(_plain(text), _letters(width))


def render(example: Example, medium: Medium) -> str | bytes:
    """The example as a prompt, or its scene drawn."""
    from recombine.families.lilgym import prompts

    makers: dict[str, Callable[[], str | bytes]] = {
        "text": lambda: prompts.prompt(example),
        "ascii": lambda: ascii_art(example.world),
        "svg": lambda: svg(example.world),
        "png": lambda: png(example.world),
    }
    if medium not in makers:
        raise UnknownName("medium of lilgym", medium, makers)
    return makers[medium]()
