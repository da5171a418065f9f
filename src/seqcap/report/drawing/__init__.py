"""A paper's results come in; its figures go out. The only part of `report` that draws, which nothing else there
imports."""
