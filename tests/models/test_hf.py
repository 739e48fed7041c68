"""Local Hugging Face models through `recombine ask`: a tiny real transformer, made and taught here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from recombine.cli import main  # noqa: E402
from recombine.data.datasets import load  # noqa: E402
from recombine.errors import FileError, UsageError  # noqa: E402
from recombine.evaluate.answers import read_answers  # noqa: E402
from recombine.evaluate.prompts import Prompter  # noqa: E402
from recombine.models.hf import LocalModel  # noqa: E402

ROWS = 3
"""How many rows the model is taught by heart."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer model that has learnt the answers of the first rows of a part of SCAN."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    rows = load("scan", "simple", "test", size=10)[:ROWS]
    prompts = [Prompter(row.family).prompt(row).text + "\n" for row in rows]
    answers = [f"Answer: {row.answer} </s>" for row in rows]
    words = sorted({word for text in prompts + answers for word in text.split()})
    vocabulary = {word: i for i, word in enumerate(["<unk>", "</s>", *[w for w in words if w != "</s>"]])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="</s>", unk_token="<unk>")
    torch.manual_seed(0)
    config = transformers.Qwen2Config(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=512, eos_token_id=1, bos_token_id=None, tie_word_embeddings=False,
    )  # fmt: skip
    model = transformers.Qwen2ForCausalLM(config)
    teach(model, tokenizer, prompts, answers)
    path = tmp_path_factory.mktemp("hf") / "tiny"
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def teach(model: torch.nn.Module, tokenizer: object, prompts: list[str], answers: list[str]) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(150):
        loss = torch.zeros(())
        for prompt, answer in zip(prompts, answers, strict=True):
            given = tokenizer(prompt)["input_ids"]  # type: ignore[operator]
            whole = torch.tensor([given + tokenizer(answer)["input_ids"]])  # type: ignore[operator]
            labels = whole.clone()
            labels[:, : len(given)] = -100
            loss = loss + model(input_ids=whole, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.05:
            break
    torch.set_num_threads(threads)
    assert loss.item() < 0.5


def test_a_taught_model_answers_what_it_was_taught(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = [
        "ask",
        "scan",
        "--split",
        "simple",
        "--size",
        "10",
        "--model",
        f"hf:{folder}",
        "--max-tokens",
        "60",
        "--out",
        str(out),
    ]
    assert main([*words, "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert sum(outcome["statuses"].values()) == 10
    assert outcome["statuses"]["right"] >= ROWS
    assert outcome["cost"] == 0
    rows = load("scan", "simple", "test", size=10)
    answers = read_answers(out / "answers.jsonl")
    assert [answers[row.id].answer for row in rows[:ROWS]] == [row.answer for row in rows[:ROWS]]
    run = json.loads((out / "run.json").read_text())
    assert run["asked"]["settings"]["decoding"] == "greedy"
    assert run["asked"]["settings"]["weights"] == LocalModel(folder).fingerprint
    assert {"torch", "transformers"} <= set(run["versions"])
    before = (out / "replies.jsonl").read_bytes()
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["asked_now"] == 0
    assert (out / "replies.jsonl").read_bytes() == before


def test_replies_are_cut_at_the_limit_and_always_the_same(folder: Path) -> None:
    model = LocalModel(folder)
    message = [{"role": "user", "content": Prompter(load("scan", "simple").family).prompt(load("scan", "simple")[0]).text}]
    first, second = model.complete(message, 3), model.complete(message, 3)
    assert first == second
    assert (first.finish, first.tokens_out) == ("length", 3)
    assert model.complete([{"role": "user", "content": "I_WALK " * 600}], 10).finish == "length"


def test_chat_templates_are_used(folder: Path) -> None:
    model = LocalModel(folder)
    plain = model.complete([{"role": "user", "content": "Command: walk"}], 5)
    model.tokenizer.chat_template = "{% for m in messages %}Answer: {{ m['content'] }}{% endfor %}"
    assert model.complete([{"role": "user", "content": "Command: walk"}], 5).tokens_in == plain.tokens_in + 1


def test_what_cannot_be_asked_is_said(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FileError, match=r"config\.json"):
        LocalModel(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(FileError, match="cannot load"):
        LocalModel(tmp_path)
    with pytest.raises(UsageError, match="words only"):
        LocalModel(folder).complete([{"role": "user", "content": [{"type": "text"}]}], 5)
    assert main(["ask", "gscan", "--model", f"hf:{folder}", "--image", "--out", str(tmp_path / "x")]) == 2
    assert "words only" in capsys.readouterr().err


def test_a_model_that_sees_is_shown_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tiny real LLaVA: what it says follows what it sees, and the pixels are those of the row's own picture."""
    import base64

    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    words = [
        "<unk>",
        "</s>",
        "<image>",
        "<pad>",
        *["Answer:", "walk", "push", "pull", "stay", "turn", "left", "right", ",", "USER:"],
    ]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="</s>", unk_token="<unk>", pad_token="<pad>", additional_special_tokens=["<image>"]
    )
    torch.manual_seed(0)
    vision = transformers.CLIPVisionConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14
    )
    language = transformers.Qwen2Config(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=2048, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    config = transformers.LlavaConfig(vision_config=vision, text_config=language, image_token_index=2)
    template = (
        "{% for m in messages %}USER: {% for c in m['content'] %}{% if c['type'] == 'image' %}<image> {% else %}{{ c['text'] }} "
        "{% endif %}{% endfor %}{% endfor %}Answer: "
    )
    size: dict[str, Any] = {"size": {"shortest_edge": 28}, "crop_size": {"height": 28, "width": 28}}
    processor = transformers.LlavaProcessor(
        image_processor=transformers.models.clip.image_processing_pil_clip.CLIPImageProcessorPil(**size), tokenizer=tokenizer,
        patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1, chat_template=template,
    )  # fmt: skip
    folder = tmp_path / "llava"
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    model = LocalModel(folder)
    assert model.sees_pictures
    row = load("gscan", size=4)[0]
    picture = Prompter(row.family, sight="picture").words.picture(row)
    assert picture is not None
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "walk"}]}
    shown = model._inputs([message])
    assert shown["pixel_values"].shape == (1, 3, 28, 28)
    assert int((shown["input_ids"] == 2).sum()) == 4  # 28 / 14 squared: the picture's patches stand in the text
    other = load("gscan", size=4)[1]
    drawn = Prompter(other.family, sight="picture").words.picture(other)
    assert drawn is not None and drawn != picture
    message["content"][0]["image_url"]["url"] = "data:image/png;base64," + base64.b64encode(drawn).decode()  # type: ignore[index]
    assert not torch.equal(shown["pixel_values"], model._inputs([message])["pixel_values"])
    assert model.complete([{"role": "user", "content": "walk"}], 3).tokens_in == 3  # words alone are fine too
    out = tmp_path / "run"
    words_asked = ["ask", "gscan", "--size", "2", "--model", f"hf:{folder}", "--image", "--max-tokens", "5", "--out", str(out)]
    assert main([*words_asked, "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert sum(outcome["statuses"].values()) == 2 and not outcome["errors"]
    assert json.loads((out / "run.json").read_text())["asked"]["sight"] == "picture"
