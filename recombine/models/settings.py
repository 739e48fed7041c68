"""Settings given as words: which of them belong to the model and which to the training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from recombine.errors import UnknownName
from recombine.models import find_model
from recombine.models.base import Training, changed
from recombine.models.train import Plan


def plan_for(model: str, settings: Mapping[str, object], seed: int = 0) -> Plan:
    """The plan of a run: the model's published settings with these changes (`{"units": 128, "epochs": "5"}`)."""
    cls, config = find_model(model)
    of_training = {f.name for f in fields(Training)} - {"seed"}
    of_model = {f.name for f in fields(config)}
    for name in settings:
        if name not in of_training | of_model:
            raise UnknownName(f"setting of {model}", name, sorted(of_training | of_model))
    config = changed(config, {name: value for name, value in settings.items() if name in of_model})
    training = changed(cls.TRAINING, {name: value for name, value in settings.items() if name in of_training - of_model})
    return Plan(model, config, replace(training, seed=seed))
