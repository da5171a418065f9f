"""The machine: devices, processes, locks and progress bars. Decides where and how things run, never what is computed.
Imports `errors` and `files`."""
