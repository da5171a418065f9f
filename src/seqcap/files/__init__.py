"""Files: reads and writes JSON, Parquet and safetensors, and states the columns of every table that passes between
stages. Imports `errors` only."""
