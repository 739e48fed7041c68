"""Who may import whom: a table, and a test that reads every import statement of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import recombine

PACKAGE = Path(recombine.__file__).parent

FLOOR = {
    "batches",
    "core",
    "columns",
    "checks",
    "difficulty",
    "abilities",
    "facets",
    "jobs",
    "keys",
    "draws",
    "exact",
    "errors",
    "moved",
    "rooms",
    "row_examples",
    "signature",
    "kernels",
    "files",
    "charts",
    "pages",
    "processes",
    "schemas",
    "predicates",
    "stores",
    "textual",
}
MAY_SEE: dict[str, set[str]] = {
    "columns": set(),
    "batches": {"columns", "core"},
    "predicates": {"abilities", "batches", "columns", "core", "draws", "errors", "exact", "facets", "kernels", "keys"},
    "core": {"columns", "keys", "errors"},
    "facets": set(),
    "difficulty": {"errors"},
    "checks": {"core", "errors"},
    "abilities": {"columns", "core", "facets"},
    "jobs": {"abilities", "core", "difficulty", "errors", "predicates"},
    "keys": set(),
    "draws": set(),
    "exact": set(),
    "errors": set(),
    "moved": set(),
    "rooms": {"abilities", "columns", "core", "facets"},
    "row_examples": {"core"},
    "charts": set(),
    "pages": set(),
    "pdf": {"errors"},
    "processes": {"errors"},
    "schemas": {"errors"},
    "signature": {"files"},
    "textual": {"core"},
    "kernels": {"errors", "files"},
    "files": {"errors", "stores"},
    "stores": {"errors"},
    "grid": FLOOR,
    "families": FLOOR | {"grid"},
    "data": FLOOR | {"families"},
    "testing": FLOOR | {"families", "data"},
    "envs": FLOOR | {"grid", "families", "data"},
    "evaluate": FLOOR | {"pdf", "families", "data", "episodes", "pairs", "scorer"},
    "episodes": FLOOR | {"families", "data", "evaluate"},
    "films": {"errors", "episodes"},
    "scorer": FLOOR | {"families", "data", "evaluate"},
    "mixture": FLOOR | {"families", "data"},
    "pairs": FLOOR | {"families", "data"},
    "models": FLOOR | {"data"},
    "gallery": FLOOR | {"grid", "families", "data", "evaluate"},
    "rl": FLOOR | {"families", "data", "envs", "models", "evaluate"},
    "exams": FLOOR | {"families", "data", "evaluate"},
    "integrations": FLOOR | {"families", "data", "envs", "evaluate", "episodes", "scorer", "mixture"},
    "serve": FLOOR | {"grid", "families", "data", "evaluate"},
    "cli": FLOOR
    | {
        "families",
        "data",
        "envs",
        "evaluate",
        "models",
        "rl",
        "exams",
        "integrations",
        "serve",
        "episodes",
        "scorer",
        "mixture",
        "pairs",
        "films",
        "gallery",
    },
}
"""Room -> the rooms that it may import from (besides itself)."""

ONLY_IN: dict[str, set[str]] = {
    "numba": {"kernels"},
    "torch": {"models", "rl", "integrations"},
    "transformers": {"models", "rl"},
    "safetensors": {"models", "rl"},
    "gymnasium": {"envs", "integrations"},
    "pyarrow": {"data"},
    "ray": {"data"},
    "starlette": {"serve"},
    "uvicorn": {"serve"},
    "httpx": set(),
    "httpx2": {"evaluate"},
    "fsspec": {"stores"},
    "filelock": {"files"},
    "rich": {"cli", "models", "rl"},
}
"""Third-party package -> the only rooms that import it."""

FORBIDDEN = {"fcntl", "pickle", "marshal", "shelve", "dill", "joblib", "yaml"}


def _imports(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "recombine" else [node.module]
    return names


def _room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def test_rooms_import_only_what_they_may() -> None:
    faults = []
    for path in sorted(PACKAGE.rglob("*.py")):
        room = _room(path)
        if room in ("__init__", "__main__"):
            continue
        for name in _imports(path):
            parts = name.split(".")
            if parts[0] == "recombine" and len(parts) > 1:
                target = parts[1]
                if target not in MAY_SEE[room] | {room, "__version__"}:
                    faults.append(f"{path.relative_to(PACKAGE)} imports {name}")
                own = path.relative_to(PACKAGE).parts
                if room == "families" and len(own) > 2 and target == "families" and len(parts) > 2 and parts[2] != own[1]:
                    faults.append(f"{path.relative_to(PACKAGE)} imports another family: {name}")
            elif (parts[0] in ONLY_IN and room not in ONLY_IN[parts[0]]) or parts[0] in FORBIDDEN:
                faults.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert faults == []


def test_nothing_executes_data() -> None:
    faults = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("eval", "exec", "compile", "os.system", "os.popen", "__import__"):
                    faults.append(f"{path.name}:{node.lineno} {called}")
                if any(k.arg == "shell" for k in node.keywords):
                    faults.append(f"{path.name}:{node.lineno} shell=")
                if called.endswith("torch.load"):
                    faults.append(f"{path.name}:{node.lineno} {called}")
    assert faults == []


def test_help_imports_nothing_heavy() -> None:
    program = "import sys; from recombine.cli import main; main(['--help']); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert not loaded & {"numpy", "numba", "pyarrow", "torch", "rich", "gymnasium", "httpx", "httpx2"}


def test_verbs_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom recombine.cli import VERBS, main\n"
        "for verb in VERBS:\n"
        "    try: main([verb, '--help'])\n"
        "    except SystemExit: pass\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert not loaded & {"numba", "pyarrow", "torch", "gymnasium", "httpx", "httpx2"}


def test_public_names_are_those_that_exist() -> None:
    for name in recombine.__all__:
        assert getattr(recombine, name) is not None
    assert set(recombine.__all__) <= set(dir(recombine))
