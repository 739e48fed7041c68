"""TRL: the data set, the rewards and the tools; and two steps of GRPO on a tiny model."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("datasets")

import recombine
from recombine.episodes import Episode
from recombine.integrations.trl import EditTools, GridTools, Reward, ScatterTools, Spec, TowerTools, episode_reward

pytestmark = pytest.mark.filterwarnings("ignore")


def test_rows_have_prompts_answers_and_ids() -> None:
    spec = Spec("reascan", split="a1", part="test", size=3)
    rows = spec.train_dataset
    assert set(rows.column_names) == {"id", "prompt", "answer"} and rows[0]["prompt"][0]["role"] == "user"
    (reward,) = spec.reward_funcs
    said = [[{"role": "assistant", "content": f"Answer: {answer}"}] for answer in rows["answer"]]
    assert reward(prompts=rows["prompt"], completions=said, id=rows["id"]) == [1.0] * 3
    assert reward(completions=["Answer: stay"] * 3, id=rows["id"], trainer_state=None) == [0.0] * 3


def test_pictures_are_images() -> None:
    rows = Spec("gscan", size=2, part="train", sight="picture").train_dataset
    assert rows[0]["images"][0].size[0] > 50 and {"type": "image", "text": None} in rows[0]["prompt"][0]["content"]


def test_rewards_are_picklable_and_log() -> None:
    reward = pickle.loads(pickle.dumps(Reward("scan")))
    row = recombine.load("scan", size=1)[0]
    logged: dict[str, Any] = {}
    put = logged.__setitem__
    assert reward(completions=[row.answer, "hm\nhm"], id=[row.id] * 2, log_extra=put, log_metric=put) == [1.0, 0.0]
    assert logged == {"mistake": ["right", "unparsable"], "recombine/answered": 0.5}


@pytest.mark.parametrize("kind", [EditTools, GridTools, TowerTools, ScatterTools])
def test_tools_have_docstrings_that_name_their_arguments(kind: type) -> None:
    tools = [
        f for name, f in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_" and name not in ("reset", "get_reward")
    ]
    assert len(tools) >= 3
    for tool in tools:
        names = [p for p in inspect.signature(tool).parameters if p != "self"]
        assert tool.__doc__ and all(f"{name}: " in tool.__doc__ for name in names)


@pytest.mark.parametrize(("name", "options"), [("reascan", {}), ("lilgym", {}), ("lilgym", {"scene": "scatter"})])
def test_episodes_are_solved_by_tool_calls(name: str, options: dict[str, object]) -> None:
    spec = Spec(name, part="train", size=2, multi_turn=True, options=options)
    tools = spec.environment_factory()
    row = spec.rows[1]
    assert "Command" in tools.reset(id=row.id, prompt=[]) or "Statement" in tools.reset(id=row.id)
    assert episode_reward([tools]) == [0.0]
    for action in Episode(row).expert():
        word, *rest = action.split()
        if word == "turn":
            tools.turn(*rest)
        else:
            getattr(tools, word.lower())(*rest)
    assert episode_reward([tools], completions=["x"]) == [1.0] and tools.get_reward() == 1.0


def test_an_abstract_task_is_solved_by_tool_calls() -> None:
    spec = Spec("abstract", part="test", size=2, multi_turn=True)
    tools = spec.environment_factory()
    assert isinstance(tools, EditTools) and "Demonstration 1" in tools.reset(id=spec.rows[1].id)
    for action in Episode(spec.rows[1]).expert():
        verb, _, rest = action.partition(" ")
        kind, _, place = rest.partition(" at ")
        getattr(tools, verb.lower())(*([kind, place] if place else [rest] if rest else []))
    assert episode_reward([tools]) == [1.0]


def test_families_without_episodes_are_refused() -> None:
    with pytest.raises(recombine.RecombineError, match="cannot be acted in"):
        Spec("scan", multi_turn=True, size=2)


@pytest.mark.slow
def test_two_steps_of_grpo(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="trl is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    spec = Spec("scan", split="simple", size=8, style="direct")
    rows = spec.train_dataset
    words = sorted({w for row in rows for w in (row["prompt"][0]["content"] + " " + row["answer"]).split()})
    held = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<unk>", "<eos>", "<pad>", *words])}, unk_token="<unk>"))
    held.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=held, unk_token="<unk>", eos_token="<eos>", pad_token="<pad>")
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    size = {
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    }
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(words) + 3, **size))
    settings = GRPOConfig(
        output_dir=str(tmp_path), per_device_train_batch_size=4, num_generations=4, max_completion_length=8, max_steps=2,
        report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    trainer = GRPOTrainer(model, reward_funcs=spec.reward_funcs, args=settings, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    assert trainer.state.global_step == 2
    assert any("rewards/Reward/mean" in entry for entry in trainer.state.log_history)
