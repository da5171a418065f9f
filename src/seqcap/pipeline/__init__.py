"""The parameter files come in; a configuration per stage, DVC's graph, its run and published reports come out. Imports
every room but tools and cli.

In order: `params` reads params.yaml and papers/*.yaml, with `overlay`, `runs` and `validation`. `configure` resolves
them into the stages' configurations (`resolve_data`, `resolve_training`, `resolve_results`, `resolve_report`), with the
`code` that each stage runs. `graph` derives graph.yaml from them. `repro` runs the graph, with `records` and
`quiet_dvc`. `experiment` runs it with other parameters in a `clone`, and `publish` copies the reports out.
"""
