"""Files: values come in; JSON, Parquet and safetensors files go out and come back checked; imports `errors` only."""
