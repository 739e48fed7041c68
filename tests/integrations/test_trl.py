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


def test_tools_show_no_pictures() -> None:
    with pytest.raises(recombine.RecombineError, match="leave out sight"):
        Spec("gscan", multi_turn=True, size=2, sight="picture")


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


@pytest.mark.slow
def test_two_steps_of_grpo_over_several_turns(tmp_path: Path) -> None:
    """A tiny model whose words are whole tool calls acts in episodes: the calls are carried out and their outcome is the reward."""
    trl = pytest.importorskip("trl", reason="trl is not installed")
    import torch
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    spec = Spec("gscan", size=4, part="train", style="direct", multi_turn=True)
    call = '<tool_call>\n{{"name": "{}", "arguments": {}}}\n</tool_call>'
    calls = [call.format("walk", '{"steps": 1}'), call.format("turn", '{"side": "left"}'), call.format("stop", "{}")]
    special = ["<unk>", "<|im_end|>", "<|endoftext|>", "<|im_start|>"]
    vocabulary = {word: i for i, word in enumerate([*special, "assistant", "user"])}
    held = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    held.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    held.add_tokens([AddedToken(text, normalized=False) for text in calls])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=held,
        unk_token="<unk>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    torch.manual_seed(1)
    size = {
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    }
    model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokenizer), head_dim=16, max_position_embeddings=4096, **size))
    settings = trl.GRPOConfig(
        output_dir=str(tmp_path), per_device_train_batch_size=4, num_generations=4, max_completion_length=600, max_steps=2,
        max_tool_calling_iterations=3, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True, temperature=1.0,
    )  # fmt: skip
    played: list[Any] = []

    def watched(environments: Any, **given: Any) -> list[float]:
        played.extend((tools, [turn.info["actions"] for turn in tools._episode.turns]) for tools in environments)
        return episode_reward(environments, **given)

    trainer = trl.GRPOTrainer(
        model, reward_funcs=[watched], args=settings, train_dataset=spec.train_dataset, processing_class=tokenizer,
        environment_factory=spec.environment_factory,
    )  # fmt: skip
    trainer.train()
    assert trainer.state.global_step == 2
    assert any("rewards/watched/mean" in entry for entry in trainer.state.log_history)
    assert len(played) >= 8 and all(isinstance(tools, GridTools) for tools, _ in played)
    assert any(len(actions) > 1 for _, actions in played), "some episode had several turns"
