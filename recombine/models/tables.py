"""All published tables that `recombine reproduce` can run, by name."""

from __future__ import annotations

from recombine.models.cells import Table
from recombine.models.tables_clutrr import CLUTRR_TABLES
from recombine.models.tables_nacs import NACS_TABLES
from recombine.models.tables_reascan import REASCAN_TABLES

TABLES: dict[str, Table] = {**NACS_TABLES, **REASCAN_TABLES, **CLUTRR_TABLES}
"""Name -> table. `recombine reproduce NAME` runs it."""
