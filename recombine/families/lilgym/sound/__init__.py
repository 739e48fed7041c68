"""How rows of the recipe `sound` are made.

`grammar` lists what can be said, `selection` chooses from it once, `language` orders the chosen statements for a part. `worlds` and
`kernel` draw scenes, `truth` judges plans, and `planner` finds edits.
"""
