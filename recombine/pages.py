"""One self-contained HTML page: no network, readable on a phone, printable. Callers escape what they put into the body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root{color-scheme:light}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:64rem;padding:1.2rem;color:#1f2937;background:#fff}
h1{font-size:1.7rem;line-height:1.2}h2{margin-top:2.4rem;border-top:1px solid #e5e7eb;padding-top:1rem}h3{margin-bottom:.3rem}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.6rem 0}
td,th{padding:.25rem .7rem;text-align:left;border-bottom:1px solid #e5e7eb;vertical-align:top}th{font-weight:600;white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.card{border:1px solid #e5e7eb;border-radius:.6rem;padding:1rem;margin:1rem 0;overflow-x:auto}
.ok{color:#047857;font-weight:600}.bad{color:#b91c1c;font-weight:600}.soft{color:#6b7280}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0}svg,img{max-width:100%;height:auto}
.all{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}figure{margin:0}
details{margin-top:.5rem}summary{cursor:pointer}code{font-size:.85em;color:#6b7280;overflow-wrap:anywhere}
@media print{details{display:block}.card{break-inside:avoid}}
"""


def page(title: str, body: str) -> str:
    """The whole document; `title` is escaped here, `body` is HTML already."""
    head = "<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'>"
    policy = (
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
    )
    return f"<!doctype html><html lang='en'><head>{head}{policy}<title>{escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"


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
    return f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _is_figure(text: str) -> bool:
    return not text or text[0] in "0123456789.-–−±<>" or text in ("—", "n/a")
