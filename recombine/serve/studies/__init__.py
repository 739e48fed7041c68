"""Studies with people: their questions and all answers, in one SQLite file.

`store` keeps records. `design` chooses items. `kin` and `scenes` hold what writers are asked and how their work is checked.
`export` writes files for `generate` and `evaluate`. `pages` is what researchers and participants see.
"""
