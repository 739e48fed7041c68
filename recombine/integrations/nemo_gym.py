"""NeMo-Gym: a resources server that verifies replies, over rows of `recombine export DIR --for nemo-gym`.

    ng_run "+config_paths=[$(recombine path nemo-gym)]"

NeMo-Gym needs Python 3.13. `verdict` holds what the server does, and needs no NeMo-Gym.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.scorer import Scorer

__all__ = ["reply_of", "serve", "verdict"]

_SCORER = Scorer()
FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Why a response is incomplete -> the scorer's word for it."""


def reply_of(response: Mapping[str, Any]) -> str:
    """The text of a response in OpenAI's Responses format: all texts of its last message."""
    messages = [item for item in response.get("output", ()) if item.get("type") == "message"]
    if not messages:
        return ""
    content = messages[-1].get("content", "")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if part.get("type") == "output_text")


def verdict(row_id: str, response: Mapping[str, Any]) -> dict[str, Any]:
    """Reward 1 for a right reply, and what is worth logging. A reply that was cut is not read."""
    reason = str((response.get("incomplete_details") or {}).get("reason"))
    score = _SCORER(row_id, reply_of(response), FINISH.get(reason, "stop"))
    return {"reward": score.value, "status": score.status, "mistake": score.mistake or ""}


def serve() -> None:
    """Run the server; NeMo-Gym calls this file."""
    from recombine.integrations import need

    need("nemo-gym", "nemo-gym", "0.5", "0.9")
    from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer

    class Request(BaseVerifyRequest):  # type: ignore[misc]
        id: str

    class Response(BaseVerifyResponse):  # type: ignore[misc]
        status: str
        mistake: str

    class Server(SimpleResourcesServer):  # type: ignore[misc]
        async def verify(self, body: Request) -> Response:
            return Response(**body.model_dump(), **verdict(body.id, body.response.model_dump()))

    Server.run_webserver()


if __name__ == "__main__":
    serve()
