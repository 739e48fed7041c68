"""Hugging Face: `recombine push DIR --repo NAME` uploads a folder with its card, and pictures of its prompts if wanted.

The token is read where `huggingface_hub` reads it (`hf auth login`, or the variable HF_TOKEN); it is never an argument. Only files that
`generate` wrote are uploaded, in one commit.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from recombine.data.folders import MANIFEST, Folder, open_folder
from recombine.errors import FileError, UsageError, shown
from recombine.integrations import need
from recombine.stores import remote

__all__ = ["push"]

_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
EXTRAS = ("README.md", MANIFEST, "croissant.json", "figures/*.svg")
"""Files that are uploaded in addition to the rows."""
PICTURES = "pictures"


def push(
    source: str | Path, repo: str, *, private: bool = False, picture: bool = False, style: Any = "rules", message: str = ""
) -> str:
    """Upload a finished folder as a data set; gives its address. `picture` adds rows with prompts that show worlds as pictures."""
    need("huggingface_hub", "hub", "1.0", "3")
    from huggingface_hub import CommitOperationAdd, HfApi, errors
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

    network: type[Exception] = vars(errors)["HTTPError"]  # of httpx in versions 1, of httpx2 in versions 2
    if not _REPO.fullmatch(repo):
        raise UsageError(f"--repo is {shown(repo)}, but must be OWNER/NAME, such as lab/reascan-a1.")
    folder = open_folder(source)
    files = _files(folder)
    said = message or f"Recombine: {folder.family.NAME}, fingerprint {folder.manifest['fingerprint']}"
    with tempfile.TemporaryDirectory() as scratch:
        if picture:
            files.update(_pictures(folder, Path(scratch), style))
        adds = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=str(file)) for name, file in sorted(files.items())]
        api = HfApi(library_name="recombine")
        try:
            made = api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
            api.create_commit(repo, adds, commit_message=said, repo_type="dataset")
        except (HfHubHTTPError, LocalTokenNotFoundError) as problem:
            raise FileError(f"the hub refused {repo}: {_first_line(problem)}") from None
        except (network, OSError) as problem:
            raise FileError(
                f"the hub cannot be reached: {_first_line(problem)}. Nothing may have been uploaded; check the network and push again."
            ) from None
    return str(made)


def _first_line(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0][:300]


def _files(folder: Folder) -> dict[str, Path]:
    """Name in the repository -> file: the rows that the manifest lists, and what describes them."""
    root = folder.path
    if remote(root) is not None:
        raise UsageError(f"{shown(str(root))} is in an object store; copy the folder to this machine, then push the copy.")
    found = {str(file.relative_to(root)): file for number in range(len(folder.plan.parts)) for file in folder.files(number)}
    for pattern in EXTRAS:
        found.update(
            {str(file.relative_to(root)): file for file in root.glob(pattern) if file.is_file() and not file.is_symlink()}
        )
    return found


def _pictures(folder: Folder, scratch: Path, style: Any) -> dict[str, Path]:
    """Rows with prompts and pictures, and a card that names them as configurations of their own."""
    from recombine.evaluate.layouts import Asked, export

    made = export(folder.path, "trl", scratch / PICTURES, Asked(style, "picture"))
    names = {f"{PICTURES}/{file.relative_to(scratch / PICTURES)}": file for file in made}
    card = (folder.path / "README.md").read_text(encoding="utf-8")
    lines = []
    for split in dict.fromkeys(file.parent.name for file in made):
        lines += [f"- config_name: {split}-{PICTURES}", "  data_files:"]
        for file in made:
            if file.parent.name == split:
                lines += [f"  - split: {file.stem}", f"    path: {PICTURES}/{split}/{file.name}"]
    head, mark, rest = card.partition("\n---\n")
    if not mark:
        raise FileError(f"{shown(str(folder.path))}/README.md has no header; generate the folder again.")
    changed = scratch / "README.md"
    changed.write_text("\n".join([head, *lines]) + mark + rest, encoding="utf-8")
    return {**names, "README.md": changed}
