"""Flickr30k (Young, Lai, Hodosh & Hockenmaier, TACL 2014) in Karpathy's layout."""

from functools import partial

from seqcap.data import karpathy

KIND = "images"
read = partial(karpathy.read, name="flickr30k")
