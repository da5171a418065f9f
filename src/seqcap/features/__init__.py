"""Visual features: in come images or clips and an encoder's weights, out come tables of features and their probes.
Imports `errors`, `files`, `system`, `config`, `world` and `data`."""
