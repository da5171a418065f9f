"""Visual features: images or clips and an encoder's weights come in; tables of features and their probes go out;
imports `errors`, `files`, `system`, `config`, `world` and `data`."""
