"""Captions as words and their references come in, quality and diversity of captions go out; and the list of all metrics
(`registry`). Imports rewards, spice, data, files and errors, and never torch.
"""
