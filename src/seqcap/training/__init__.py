"""Configurations and a task's artifacts come in; weights and learning curves of captioners, retrievers and encoders go
out. It may import all rooms from errors to objectives.

`loop` trains; `captioners`, `retrievers` and `encoders` say what is trained, on which batches, and how it is scored."""
