"""Who answers in `recombine ask`: an endpoint, a local Hugging Face model, or a file of results; each with its checks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.errors import UsageError, shown

if TYPE_CHECKING:
    from recombine.evaluate.endpoint import Reply
    from recombine.evaluate.purse import Answerer
    from recombine.models.hf import LocalModel

RESERVED = ("messages", "model", "stream", "n")


class Model(NamedTuple):
    """What answers, where it is, the settings that belong to the run, and the longest reply in tokens."""

    answerer: Answerer
    place: str
    settings: Mapping[str, Any]
    longest_reply: int


def local_model(arguments: argparse.Namespace) -> Model:
    """A model of this machine, `hf:PATH`."""
    if arguments.endpoint or arguments.body:
        raise UsageError("hf: models need neither --endpoint nor --body.")
    if arguments.samples != 1:
        raise UsageError("hf: models decode greedily, so that several samples are copies of one; leave out --samples.")
    local = Local(arguments.model.removeprefix("hf:"), arguments.max_tokens, arguments.device)
    if arguments.image and not arguments.dry_run and not local.model.sees_pictures:
        raise UsageError(f"{shown(local.folder)} is a model of words only; leave out --image.")
    settings = {"decoding": "greedy", "weights": "" if arguments.dry_run else local.model.fingerprint}
    return Model(local, "", settings, arguments.max_tokens)


def batch_model(arguments: argparse.Namespace) -> Model:
    """Somebody else sends the requests; the results are read from a file later."""
    from recombine.evaluate.batches import BatchReplies

    if arguments.endpoint or arguments.stream:
        raise UsageError("a batch file needs neither --endpoint nor --stream: you send it yourself.")
    _check_samples(arguments)
    settings = _settings(arguments)
    return Model(BatchReplies({}), "batch", settings, _longest_reply(settings))


def endpoint_model(arguments: argparse.Namespace) -> Model:
    """A model behind an OpenAI-compatible endpoint."""
    from recombine.evaluate.endpoint import Endpoint, Patience

    _check_samples(arguments)
    if not arguments.endpoint:
        raise UsageError("--endpoint is missing: the address of an OpenAI-compatible server, such as http://localhost:8000/v1.")
    if arguments.stream and not 0 < arguments.chunk_timeout <= 86_400:
        raise UsageError(f"--chunk-timeout is {arguments.chunk_timeout:g}, but must be above 0 and at most 86,400 seconds.")
    if not (0 < arguments.timeout <= 86_400 and arguments.retries <= 100 and 0 <= arguments.backoff <= 600):
        raise UsageError("--timeout takes 0 to 86,400 seconds, --retries at most 100, --backoff 0 to 600 seconds.")
    settings = _settings(arguments)
    patience = Patience(arguments.timeout, arguments.retries, arguments.backoff)
    endpoint = Endpoint(
        arguments.endpoint, arguments.model, settings, patience, connections=max(1, arguments.concurrency),
        allow_http=arguments.allow_http, per_minute=arguments.per_minute,
        chunk_seconds=arguments.chunk_timeout if arguments.stream else None,
    )  # fmt: skip
    return Model(endpoint, endpoint.url, settings, _longest_reply(settings))


def _check_samples(arguments: argparse.Namespace) -> None:
    if not 1 <= arguments.samples <= 1_000:
        raise UsageError(f"--samples is {arguments.samples}, but must be 1 to 1,000.")
    if arguments.samples > 1 and not arguments.temperature:
        raise UsageError("several samples at temperature 0 are copies of one; say --temperature, such as 0.7.")


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields of the request besides model and messages."""
    settings: dict[str, Any] = {"temperature": arguments.temperature, "max_tokens": arguments.max_tokens}
    for word in arguments.body:
        name, equals, text = word.partition("=")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value, equals = None, ""
        if not equals or not name or name in RESERVED:
            raise UsageError(f"--body {shown(word)} is not NAME=JSON with another name than {', '.join(RESERVED)}.")
        settings[name] = value
    return {name: value for name, value in settings.items() if value is not None}


def _longest_reply(settings: dict[str, Any]) -> int:
    """The most tokens that a reply may have by these settings; caps need to know."""
    limits = [settings[name] for name in ("max_tokens", "max_completion_tokens") if name in settings]
    if not limits or not all(isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 for limit in limits):
        raise UsageError("a request needs max_tokens or max_completion_tokens, a whole number: without it no cap can hold.")
    return int(min(limits))


class Local:
    """A local Hugging Face model as an answerer; loaded when first needed."""

    def __init__(self, folder: str, max_tokens: int, device: str) -> None:
        self.folder, self.max_tokens, self.device = folder, max_tokens, device
        self._model: LocalModel | None = None

    @property
    def model(self) -> LocalModel:
        """The model itself."""
        if self._model is None:
            try:
                from recombine.models.hf import LocalModel
            except ImportError as problem:
                raise UsageError(
                    f"hf: models need the `train` extra: pip install 'recombine[train]' ({problem.name})."
                ) from None
            self._model = LocalModel(self.folder, self.device)
        return self._model

    async def __aenter__(self) -> Local:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def ask(self, name: str, messages: list[dict[str, Any]], before: Callable[[], None]) -> Reply:  # noqa: ARG002
        """One reply."""
        import time

        from recombine.evaluate.endpoint import Reply

        before()
        began = time.monotonic()
        said = self.model.complete(messages, self.max_tokens)
        seconds = round(time.monotonic() - began, 3)
        return Reply(said.text, said.finish, "", f"hf:{self.folder}", "", said.tokens_in, said.tokens_out, seconds=seconds)
