"""Action heads: they number actions as the environments do, give probabilities, and keep to masks."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from recombine.families.lilgym.play.episodes import Setting, action_of, begin, edit_of  # noqa: E402
from recombine.families.lilgym.play.tasks import instances_of  # noqa: E402
from recombine.families.lilgym.play.validity import masks  # noqa: E402
from recombine.families.lilgym.scene import EMPTY_TOWER, Scene  # noqa: E402
from recombine.rl.chances import Table  # noqa: E402
from recombine.rl.heads import LAYOUTS, NEVER, make_head  # noqa: E402


@pytest.mark.parametrize("kind", ["tower", "scatter"])
def test_layout_is_the_environments_own(kind: str) -> None:
    layout, setting = LAYOUTS[kind], Setting(kind)
    assert layout.actions == setting.action_count
    stop, add, remove = layout.split(torch.arange(layout.actions).unsqueeze(0))
    assert stop.tolist() == [[0]]
    for position in range(layout.positions):
        edits = [edit_of(setting, int(action)) for action in add[0, position]]
        taken = edit_of(setting, int(remove[0, position]))
        assert {edit.verb for edit in edits} == {"ADD"} and taken.verb == "REMOVE"
        assert {(edit.box, edit.x, edit.y) for edit in edits} == {(taken.box, taken.x, taken.y)}
        assert len(set(edits)) == layout.items
        assert action_of(setting, taken) == int(remove[0, position])


def _masks(kind: str) -> torch.Tensor:
    scene = (
        Scene.of_towers([[0, 1, 2, 0], [], [1]])
        if kind == "tower"
        else Scene.of("scatter", [(0, 0, 0, 30, 1, 1), (1, 60, 60, 10, 2, 0)])
    )
    records = [("a", "x", "exist(all_items)", EMPTY_TOWER if kind == "tower" else Scene("scatter"), True), ("b", "x", "exist(all_items)", scene, True)]  # fmt: skip
    states = begin(Setting(kind), instances_of(kind, records), np.arange(2))
    return torch.from_numpy(masks(states))


@pytest.mark.parametrize("kind", ["tower", "scatter"])
@pytest.mark.parametrize("name", ["factored", "flat"])
def test_heads_give_probabilities_and_masks_leave_only_valid_actions(kind: str, name: str) -> None:
    torch.manual_seed(0)
    head = make_head(name, kind, 8)
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    state = torch.randn(2, 8)
    chances = head(state)
    assert torch.allclose(chances.exp().sum(1), torch.ones(2), atol=1e-4)
    mask = _masks(kind)
    assert not mask.all()
    masked = head(state, mask)
    assert torch.allclose(masked.exp().sum(1), torch.ones(2), atol=1e-4)
    assert (masked[~mask] <= NEVER / 2).all() and (masked[mask] > NEVER / 2).all()
    chosen = head.greedy(masked)
    assert mask[torch.arange(2), chosen].all()
    entropy = -(masked.exp() * masked).sum(1)
    assert torch.isfinite(entropy).all()


def test_factored_mode_goes_factor_by_factor() -> None:
    """The likeliest type wins although a single action of another type is likelier than each of its own."""
    head = make_head("factored", "tower", 4)
    chances = torch.full((1, 13), 1e-6)
    chances[0, 0] = 0.3
    chances[0, 1:10] = torch.tensor([0.02, 0.02, 0.02, 0.2, 0.1, 0.1, 0.08, 0.08, 0.08])
    assert head.greedy(chances.log()).tolist() == [4]
    assert make_head("flat", "tower", 4).greedy(chances.log()).tolist() == [0]


def test_factors_are_those_of_the_layout() -> None:
    """The joint table is the product of its factors, in the environments' order of actions."""
    torch.manual_seed(1)
    layout = LAYOUTS["scatter"]
    head = make_head("factored", "scatter", 4)
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    _, add, _ = layout.split(head(torch.randn(1, 4)).exp())
    whole = (add / add.sum()).view(*layout.place, *layout.item)
    factors = [whole.sum([d for d in range(5) if d != kept]) for kept in range(5)]
    assert torch.allclose(whole, torch.einsum("a,b,c,d,e->abcde", *factors), atol=1e-6)
    edit = edit_of(Setting("scatter"), 1 + int(whole.argmax()))
    column, row, shape, color, size = (int(factor.argmax()) for factor in factors)
    assert (edit.x, edit.y, edit.shape, edit.color, edit.size) == (20 * column, 20 * row, shape, color, size)


@pytest.mark.parametrize("kind", ["tower", "scatter"])
def test_factors_agree_with_the_table(kind: str) -> None:
    """Log-probabilities, entropy, mode and gradients are those of the table of all actions."""
    torch.manual_seed(2)
    head = make_head("factored", kind, 6).double()
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    state = torch.randn(20, 6, dtype=torch.float64)
    factors, table = head.chances(state), Table(head(state))
    slopes = []
    for chances in (factors, table):
        all_actions = torch.stack([chances.of(torch.full((20,), action)) for action in range(head.layout.actions)], 1)
        assert torch.allclose(all_actions, table.values)
        assert torch.allclose(chances.stop, table.values[:, 0])
        assert torch.allclose(chances.entropy(), -(table.values.exp() * table.values).sum(1))
        loss = chances.entropy().sum() + chances.of(torch.arange(20) % head.layout.actions).sum()
        slopes.append(torch.autograd.grad(loss, list(head.parameters()), retain_graph=True))
    assert all(torch.allclose(one, other) for one, other in zip(*slopes, strict=True))
    assert head.mode(state).tolist() == head.greedy(table.values).tolist()


def test_draws_follow_the_table() -> None:
    """200,000 draws of one state: each action's share lies within five standard errors of its probability."""
    torch.manual_seed(3)
    head = make_head("factored", "tower", 6)
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    state, draws = torch.randn(1, 6), 200_000
    expected = head(state)[0].exp()
    found = torch.bincount(head.chances(state.expand(draws, -1)).drawn(), minlength=13) / draws
    assert ((found - expected).abs() <= 5 * (expected * (1 - expected) / draws).sqrt() + 1e-6).all()
