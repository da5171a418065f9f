"""Visual encoders, extraction of their features, and reading them back."""
