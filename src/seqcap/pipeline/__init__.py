"""Parameter files come in; a configuration for each stage, DVC's graph and the reports of its run go out; may import
every room but `tools` and `cli`.

In order: `params` reads params.yaml and papers/*/runs.yaml (`parameter_files`) into what they may say (`forms`), with
`overlay` and `validation`. The kinds of stages (`kind`), a file each in stages/, make the stages of a `project` from
that, with the `code` that each stage runs. `configure` writes their configurations, `graph` the files that DVC reads.
`repro` runs the graph, with `records`, `quiet_dvc` and, so that stages start fast, `stage_server`; `dry` says what it
would run. `experiment` runs it with other
parameters in a `clone`, and `publish` copies the reports out."""
