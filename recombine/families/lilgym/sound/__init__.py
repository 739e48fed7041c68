"""How rows of the recipe `sound` are made: statements (`statements`), scenes (`worlds`, `kernel`) and edit plans (`planner`)."""
