"""Trained captioners, their captions and references come in, captions and scores go out, as rows of `schemas.DECODED`
and `schemas.SCORES` on the scale 0 to 1; may import all rooms from errors to training.

`decode` decodes. `captions` scores captions of images and clips, `translations` of sentences, `server` as COCO's server
does, `retrieval` by what they find. `variance` and `estimators` measure gradients."""
