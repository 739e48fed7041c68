"""NeMo-Gym needs Python 3.13, so its server is not run here: the verdict and the layout are tested."""

from __future__ import annotations

import recombine
from recombine.integrations import path_of
from recombine.integrations.nemo_gym import reply_of, verdict


def response(*texts: str) -> dict[str, object]:
    parts = [{"type": "output_text", "text": text} for text in texts]
    return {"output": [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": parts}]}


def test_verdicts() -> None:
    example = recombine.load("clutrr", size=2)[1]
    assert verdict(example.id, response("Let us see.\n", f"Answer: {example.answer}"))["reward"] == 1.0
    assert verdict(example.id, response("Answer: none of these"))["reward"] == 0.0
    assert verdict(example.id, {"output": []})["status"] == "unparsable"
    cut = {
        **response(f"Answer: {example.answer}"),
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    assert verdict(example.id, cut)["reward"] == 0.0
    assert verdict(example.id, {**cut, "incomplete_details": None})["reward"] == 1.0
    assert reply_of({"output": [{"type": "message", "content": "plain"}]}) == "plain"


def test_the_configuration_is_there() -> None:
    assert "entrypoint: nemo_gym.py" in path_of("nemo-gym").read_text()
