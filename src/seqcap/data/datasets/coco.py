"""COCO captions (Chen et al., "Microsoft COCO Captions", 2015) in Karpathy's layout."""

from functools import partial

from seqcap.data import karpathy

KIND = "images"
read = partial(karpathy.read, name="coco")
