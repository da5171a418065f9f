"""Distinctive captioning with a fixed retriever's reward (Chaffin et al., 2024)."""
