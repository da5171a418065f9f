"""What others call from Python: texts come in, scores, comparisons and rewards of their captions go out; may import
what is below it, and never torch except for CLIP. `seqcap` itself exports it."""
