"""One self-contained HTML page: no network, readable on a phone, in dark mode and on paper. Callers escape what they put into the body."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#ffffff;--ink:#1b1f26;--soft:#566070;--line:#dfe3e8;--good:#1d6b3e;--bad:#a8201a;--heat:122,62,157;
--c0:#1f6fb4;--c1:#b8560f;--c2:#6b3fa0;--c3:#00756b;--c4:#b0185f;--c5:#7a6200;--c6:#3f4a9e;--c7:#4b5563;--link:#1a5f9e}
@media (prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1b1f25;--ink:#e9ebee;--soft:#a3adba;--line:#333a43;--good:#7cc99a;--bad:#f2897f;--heat:199,155,230;
--c0:#6fb1ea;--c1:#f0a565;--c2:#c79be6;--c3:#5fc9bb;--c4:#f08cb8;--c5:#d8bf56;--c6:#a3adf5;--c7:#b4bdc9;--link:#8cc1f0}}
*{box-sizing:border-box}html{scroll-padding-top:1rem}
body{font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:64rem;padding:1.2rem;color:var(--ink);background:var(--bg)}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
h1{font-size:1.5rem;line-height:1.25;margin:.2rem 0}h2{font-size:1.2rem;margin:2.6rem 0 .4rem;border-top:1px solid var(--line);padding-top:1rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.6rem 0;font-size:.92rem}
td,th{padding:.25rem .7rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}th{font-weight:600}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;margin:.8rem 0;overflow-wrap:anywhere}
.ok{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}.soft{color:var(--soft)}.small{font-size:.88rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0}svg,img{max-width:100%;height:auto}
.all{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}figure{margin:0}
details{margin-top:.5rem}summary{cursor:pointer}code{font-size:.85em;color:var(--soft);overflow-wrap:anywhere}
@media print{:root{color-scheme:light}details{display:block}.card{break-inside:avoid}}
"""


def page(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """The whole document; `title` is escaped here, `body` is HTML already.

    `script` is the one script that may run. Its nonce is a hash of the whole page, so nothing inside the page can know it.
    """
    nonce = hashlib.blake2b(f"{title}\0{body}\0{script}".encode(), digest_size=16).hexdigest()
    allowed = f" script-src 'nonce-{nonce}';" if script else ""
    head = "<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'>"
    policy = (
        f"<meta http-equiv='Content-Security-Policy' content=\"default-src 'none';{allowed} style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'\">"
    )
    run = f"<script nonce='{nonce}'>{script}</script>" if script else ""
    return (
        f"<!doctype html><html lang='en'><head>{head}{policy}<title>{escape(title)}</title><style>{STYLE}{style}</style></head>"
        f"<body>{body}{run}</body></html>\n"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table of escaped cells; cells that are numbers stand at the right."""
    listed = [[str(cell) for cell in row] for row in rows]
    right = [bool(listed) and all(_is_figure(row[i]) for row in listed) for i in range(len(header))]
    kinds = [" class='n'" if flag else "" for flag in right]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for name, kind in zip(header, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in listed
    )
    return f"<div class='wide' tabindex='0'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _is_figure(text: str) -> bool:
    return not text or text[0] in "0123456789.-–−±<>" or text in ("—", "n/a")
