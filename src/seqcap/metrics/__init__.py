"""Captions as words and their references come in, quality and diversity of captions go out; may import errors, files,
data, spice and rewards, and never torch. `registry` lists all metrics."""
