"""The machine: artifacts/machine.json and jobs come in; a device, worker processes, locks and progress bars go out;
imports `errors` and `files`. Nothing here changes what is computed."""
