"""Flickr8k (Hodosh, Young & Hockenmaier, JAIR 2013) in Karpathy's layout."""

from functools import partial

from seqcap.data import karpathy

KIND = "images"
read = partial(karpathy.read, name="flickr8k")
