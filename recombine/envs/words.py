"""Statements and commands as word ids, the same for every instance source.

Id 0 is padding. Words of the built-in list have ids 1 to N; any other word falls by its hash into one of `BUCKETS` further ids,
so that no word is ever lost, and two sources never disagree about an id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.errors import UsageError, shown

BUCKETS = 1024
MAX_WORDS = 80
_WORD = re.compile(r"[a-z]+|[0-9]+")
_LIST = """
a above all almost among an and another any are as at attached away base being below beneath between big black block
blocks blue both bottom box boxes but by cautiously circle circles close closely color colors colour colours column
contain containing contains corner cylinder different directly does each edge eight either else equal even every exactly
false fewer first five four from gray green grey has have having height hesitantly in inside is it item items its kind
large least left less lower many medium middle more most multiple near nearly neither nine no none not nothing number
object objects occur occurs odd of on one only or other out over place pull push red right row same second seven several
shape shapes side sides single six size sizes small smallest somewhere spinning square squares stack stacked tall than
that the their them there these they third three to together top total touch touches touching tower towers triangle
triangles true two under upper walk wall walls where which while with without yellow zero zigzagging 0 1 2 3 4 5 6 7 8 9
10
"""
VOCABULARY: tuple[str, ...] = tuple(sorted(set(_LIST.split())))
"""The built-in words; the id of VOCABULARY[k] is k + 1."""
_IDS = {word: place + 1 for place, word in enumerate(VOCABULARY)}
ID_COUNT = 1 + len(VOCABULARY) + BUCKETS


def word_id(word: str) -> int:
    """The id of a lower-case word."""
    known = _IDS.get(word)
    return known if known is not None else 1 + len(VOCABULARY) + keys.state("word", word) % BUCKETS


def word_ids(sentences: Sequence[str]) -> NDArray[np.int32]:
    """The ids of the words of each sentence, (n, MAX_WORDS), padded with 0; case and punctuation do not count."""
    ids = np.zeros((len(sentences), MAX_WORDS), np.int32)
    for row, sentence in enumerate(sentences):
        words = _WORD.findall(sentence.lower())
        if len(words) > MAX_WORDS:
            raise UsageError(f"{shown(sentence)} has {len(words)} words, but word ids hold {MAX_WORDS}; use text='string'.")
        ids[row, : len(words)] = [word_id(word) for word in words]
    return ids
