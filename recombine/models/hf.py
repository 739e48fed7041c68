"""A language model of the Hugging Face kind from a local folder: text in, text out, greedily; pictures too where the model sees them.

Nothing is downloaded, no code that lies beside the weights is run, and weights are read from safetensors only.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from recombine.errors import FileError, UsageError, shown
from recombine.files import check_path, read_json

HASHED = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json", "processor_config.json",
    "preprocessor_config.json", "chat_template.json",
)  # fmt: skip
"""Small files that decide what a model says; weights enter the fingerprint by name and size."""

PLAIN = ("PreTrainedTokenizerFast", "TokenizersBackend")
"""Tokenizer classes that add nothing to tokenizer.json."""


@dataclass(frozen=True)
class Completion:
    """A model's reply: the text, whether it ended by itself (`stop`) or was cut (`length`), and the tokens of prompt and reply."""

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
        from transformers.utils import logging

        quieten: Any = logging.disable_progress_bar
        quieten()
        self.sees_pictures = "vision_config" in read_json(self.folder / "config.json", 64 << 20)
        try:
            self.processor, self.tokenizer, model = self._load()
            self.model = model.to(device).eval()
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as problem:
            raise FileError(f"cannot load the model in {shown(str(folder))}: {shown(str(problem), 200)}.") from None
        self.device = device
        ends = self.model.generation_config.eos_token_id
        ends = ends if ends is not None else self.tokenizer.eos_token_id
        self.ends: frozenset[int] = frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])

    def _load(self) -> tuple[Any, Any, Any]:
        """The processor (None for a model of words only), the tokenizer and the model."""
        import transformers

        classes: Any = transformers
        safe: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        if self.sees_pictures:
            processor = classes.AutoProcessor.from_pretrained(self.folder, **safe)
            model = classes.AutoModelForImageTextToText.from_pretrained(self.folder, use_safetensors=True, **safe)
            return processor, processor.tokenizer, model
        reader = classes.PreTrainedTokenizerFast if self._has_plain_tokenizer() else classes.AutoTokenizer
        tokenizer = reader.from_pretrained(self.folder, **safe)
        return None, tokenizer, classes.AutoModelForCausalLM.from_pretrained(self.folder, use_safetensors=True, **safe)

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
        inputs = {name: value.to(self.device) for name, value in self._inputs(messages).items()}
        given = int(inputs["input_ids"].shape[1])
        config = self.model.config
        longest = getattr(getattr(config, "text_config", None) or config, "max_position_embeddings", None)
        room = max_tokens if longest is None else min(max_tokens, int(longest) - given)
        if given == 0 or room < 1:
            return Completion("", "length", given, 0)
        pad = self.tokenizer.pad_token_id
        with torch.inference_mode():
            out = self.model.generate(
                **inputs,
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

    def _inputs(self, messages: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """The tokens of a conversation, and the pixels of its pictures."""
        if self.processor is not None:
            return self._seen_inputs(messages)
        if any(not isinstance(message["content"], str) for message in messages):
            raise UsageError(f"{shown(str(self.folder))} is a model of words only; leave out --image.")
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
            ids = self.tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        else:
            text = "\n\n".join(message["content"] for message in messages) + "\n"
            ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def _seen_inputs(self, messages: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """The same for a model that sees pictures; its processor says where they stand."""
        if not getattr(self.processor, "chat_template", None):
            raise UsageError(f"the model in {shown(str(self.folder))} has no chat template, so that pictures have no place.")
        told = [
            {"role": message["role"], "content": [_piece(piece) for piece in _listed(message["content"])]}
            for message in messages
        ]
        found = self.processor.apply_chat_template(
            told, tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        return {name: value for name, value in found.items() if isinstance(value, torch.Tensor)}


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _piece(piece: dict[str, Any]) -> dict[str, Any]:
    """A piece of an OpenAI chat message as processors take it: texts as they are, data URLs as pictures."""
    if piece["type"] == "text":
        return piece
    from PIL import Image

    raw = base64.b64decode(piece["image_url"]["url"].partition(",")[2])
    with Image.open(io.BytesIO(raw)) as opened:
        return {"type": "image", "image": opened.convert("RGB")}
