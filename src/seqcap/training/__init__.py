"""Configurations and a task's artifacts come in, weights and learning curves of captioners, retrievers and encoders go
out; may import all rooms from errors to objectives.

`loop` trains; `captioners`, `retrievers` and `encoders` tell what is trained, on which batches and with which scores.
"""
