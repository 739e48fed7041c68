"""Acting in scenes: edits and their validity, rewards, episodes, the solver. Knows nothing of Gymnasium.

`edits` names the actions, `kernel` applies them, `episodes` plays them, `validity` lists the valid ones, `tasks` starts episodes
from rows or files, and `solver` finds shortest plans.
"""
