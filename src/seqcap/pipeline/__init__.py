"""Parameter files come in; a configuration for each stage, DVC's graph and the reports of its run go out; may import
every room but `tools` and `cli`.

In order: `params` reads params.yaml and papers/*/runs.yaml, with `overlay` and `validation`. `configure` resolves them
into the stages' configurations (`resolve_data`, `resolve_training`, `resolve_results`, `resolve_report`), with the
`code` that each stage runs; `graph` writes these stages as DVC reads them. `repro` runs the graph, with `records` and
`quiet_dvc`; `dry` says what it would run. `experiment` runs it with other parameters in a `clone`, and `publish` copies
the reports out."""
