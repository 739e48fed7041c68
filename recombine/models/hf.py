"""A causal language model of the Hugging Face kind from a local folder: text in, text out, greedily.

Nothing is downloaded, no code that lies beside the weights is run, and weights are read from safetensors only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from recombine.errors import FileError, UsageError, shown
from recombine.files import check_path, read_json

HASHED = ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")
"""Small files that decide what a model says; weights enter the fingerprint by name and size."""

PLAIN = ("PreTrainedTokenizerFast", "TokenizersBackend")
"""Tokenizer classes that add nothing to tokenizer.json."""


@dataclass(frozen=True)
class Completion:
    """What a model said: the text, whether it came to an end (`stop`) or was cut (`length`), and the tokens on both sides."""

    text: str
    finish: str
    tokens_in: int
    tokens_out: int


class LocalModel:
    """A model and its tokenizer, ready to answer one message at a time. The same message always gives the same reply."""

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        self.folder = check_path(folder)
        if not (self.folder / "config.json").is_file():
            raise FileError(f"{shown(str(folder))} is no model: it has no config.json. hf: takes a local folder.")
        from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast
        from transformers.utils import logging

        quieten: Any = logging.disable_progress_bar
        quieten()
        safe: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            reader: Any = PreTrainedTokenizerFast if self._has_plain_tokenizer() else AutoTokenizer
            self.tokenizer = reader.from_pretrained(self.folder, **safe)
            model: Any = AutoModelForCausalLM.from_pretrained(self.folder, use_safetensors=True, **safe)
            self.model = model.to(device).eval()
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as problem:
            raise FileError(f"cannot load the model in {shown(str(folder))}: {shown(str(problem), 200)}.") from None
        self.device = device
        ends = self.model.generation_config.eos_token_id
        ends = ends if ends is not None else self.tokenizer.eos_token_id
        self.ends: frozenset[int] = frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])

    def _has_plain_tokenizer(self) -> bool:
        """Whether the folder says that tokenizer.json is all there is; the automatic choice goes by the model's type instead."""
        path = self.folder / "tokenizer_config.json"
        named = read_json(path, 64 << 20).get("tokenizer_class") if path.is_file() else None
        return named in PLAIN and (self.folder / "tokenizer.json").is_file()

    @property
    def fingerprint(self) -> str:
        """16 hex digits for the folder: its small files by content, its weights by name and size."""
        digest = hashlib.blake2b(digest_size=8)
        for path in sorted(self.folder.iterdir()):
            if path.name in HASHED:
                digest.update(path.name.encode() + b"\0" + path.read_bytes())
            elif path.suffix == ".safetensors":
                digest.update(f"{path.name}\0{path.stat().st_size}".encode())
        return digest.hexdigest()

    def complete(self, messages: Sequence[dict[str, Any]], max_tokens: int) -> Completion:
        """The reply to a list of chat messages, by the model's own chat template, or as plain text if it has none."""
        if any(not isinstance(message["content"], str) for message in messages):
            raise UsageError("hf: models are asked in words only; leave out --image.")
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
            ids = self.tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        else:
            text = "\n\n".join(message["content"] for message in messages) + "\n"
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
        ids = ids.to(self.device)
        given = int(ids.shape[1])
        longest = getattr(self.model.config, "max_position_embeddings", None)
        room = max_tokens if longest is None else min(max_tokens, int(longest) - given)
        if given == 0 or room < 1:
            return Completion("", "length", given, 0)
        pad = self.tokenizer.pad_token_id
        with torch.inference_mode():
            out = self.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=room,
                do_sample=False,
                num_beams=1,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=pad if pad is not None else min(self.ends, default=0),
            )
        said = out[0, given:].tolist()
        is_ended = bool(said) and said[-1] in self.ends
        words = self.tokenizer.decode(said, skip_special_tokens=True)
        return Completion(str(words), "stop" if is_ended else "length", given, len(said))
