"""The generated world: configurations and seeds come in; images, clips, scene graphs, captions in three languages and
verdicts on captions go out; imports `errors`, `files`, `system` and `config`."""
