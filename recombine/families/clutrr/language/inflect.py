"""Past tense and -ing form of the English verbs in the event list: regular rules, and a table for the rest."""

from __future__ import annotations

import functools

_IRREGULAR = """
be was being; bear bore; beat beat; become became; begin began beginning; bend bent; bet bet betting; bid bid bidding; bind
bound; bite bit; bleed bled; blow blew; break broke; breed bred; bring brought; build built; burn burnt; burst burst; buy
bought; cast cast; catch caught; choose chose; cling clung; come came; creep crept; cut cut cutting; deal dealt; dig dug
digging; do did doing; draw drew; drink drank; drive drove; eat ate; fall fell; feed fed; feel felt; fight fought; find
found; fling flung; fly flew; forget forgot forgetting; freeze froze; get got getting; give gave; go went; grind ground; grow
grew; hang hung; have had; hear heard; hide hid; hit hit hitting; hold held; keep kept; kneel knelt; knit knitted knitting;
know knew; lay laid; lead led; leap leapt; learn learnt; leave left; lend lent; let let letting; lie lay lying; light lit;
lose lost; make made; mean meant; meet met; outbid outbid outbidding; outrun outran outrunning; overfeed overfed; overhear
overheard; pay paid; proofread proofread; put put putting; read read; rebuild rebuilt; redo redid redoing; rehang rehung;
relight relit; repay repaid; restring restrung; retell retold; rewind rewound; rewrite rewrote; ride rode; ring rang; rise
rose; run ran running; saw sawed; say said; see saw; seek sought; sell sold; send sent; set set setting; sew sewed; shake
shook; shear sheared; shine shone; shoe shod; shoot shot; show showed; shut shut shutting; sing sang; sink sank; sit sat
sitting; sleep slept; slide slid; sling slung; sow sowed; speak spoke; spend spent; spin spun spinning; split split
splitting; spread spread; spring sprang; stand stood; steal stole; stick stuck; sting stung; strike struck; string strung;
sweep swept; swim swam swimming; swing swung; take took; teach taught; tear tore; tell told; think thought; throw threw;
understand understood; undo undid undoing; unwind unwound; wake woke; wear wore; weave wove; win won winning; wind wound;
withdraw withdrew; write wrote
"""
_DOUBLE_LAST = (
    "cancel", "carol", "channel", "chisel", "commit", "debug", "distil", "duel", "enamel", "label", "level", "marvel",
    "model", "patrol", "pedal", "permit", "program", "refer", "shovel", "signal", "snorkel", "stencil", "submit", "travel",
    "unplug", "unravel", "unwrap", "yodel",
)  # fmt: skip
"""Verbs of more than one syllable that double their last consonant."""
_VOWELS = "aeiou"


@functools.cache
def _irregular() -> dict[str, tuple[str, str | None]]:
    table = {}
    for entry in _IRREGULAR.replace("\n", " ").split(";"):
        base, past, *gerund = entry.split()
        table[base] = (past, gerund[0] if gerund else None)
    return table


def _doubles(verb: str) -> bool:
    """Whether the last consonant is doubled before -ed and -ing: one short vowel before one consonant, stressed."""
    if verb in _DOUBLE_LAST:
        return True
    if len(verb) < 3 or verb[-1] in _VOWELS + "wxy":
        return False
    if verb[-2] not in _VOWELS or (verb[-3] in _VOWELS and verb[-3:-1] != "ui"):
        return False
    return sum(1 for i, c in enumerate(verb) if c in _VOWELS and (i == 0 or verb[i - 1] not in _VOWELS)) == 1


def past(verb: str) -> str:
    """The past tense: plant -> planted, dig -> dug, carry -> carried."""
    if verb in _irregular():
        return _irregular()[verb][0]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    if verb.endswith("c"):
        return verb + "ked"
    return verb + (verb[-1] if _doubles(verb) else "") + "ed"


def gerund(verb: str) -> str:
    """The -ing form: plant -> planting, dig -> digging, tie -> tying."""
    known = _irregular().get(verb, ("", None))[1]
    if known:
        return known
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    if verb.endswith("c"):
        return verb + "king"
    return verb + (verb[-1] if _doubles(verb) and verb not in _irregular() else "") + "ing"
