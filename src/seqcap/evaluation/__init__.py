"""Trained captioners, what they decoded and references come in; captions and scores go out, as rows of
`schemas.DECODED` and `schemas.SCORES`, on the scale 0 to 1. It may import all rooms from errors to training.

`captions` scores images and clips, `translations` sentences, `server` as COCO's server does, `retrieval` by what is
found; `decode` decodes; `variance` and `estimators` measure gradients."""
