"""What others write with the package, with the types that they may count on: mypy reads it, and nothing runs it."""

import numpy as np

import seqcap

evaluation: seqcap.Evaluation = seqcap.evaluate({1: "a dog"}, {1: ["a dog"]}, ["cider"])
value: float = evaluation["cider"].value
each: np.ndarray = evaluation.per_item["CIDEr"]
difference: seqcap.Difference = seqcap.compare({"a": ["x"], "b": ["y"]}, [["x"]], "bleu").differences["b"]["BLEU1"]
reward = seqcap.CaptionReward("cider", {"a.jpg": ["a dog"], "b.jpg": ["a cat"]}, eos=2)
paid: list[float] = reward(["a dog"], image_id=["a.jpg"])
ids: list[float] = seqcap.TokenReward({"cider": 1.0}, [[[5]], [[6]]], pad=0, eos=2)([[5, 2]], [0])
score, scores = seqcap.coco.Cider().compute_score({1: ["a"], 2: ["b"]}, {1: ["a"], 2: ["b"]})
mean: float = score
counted: seqcap.DocumentFrequencies = seqcap.DocumentFrequencies.read("a.npz")
wrong: str = seqcap.evaluate(["a"], [["a"]]).notes  # type: ignore[assignment]
