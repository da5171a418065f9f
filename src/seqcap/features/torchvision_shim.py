"""Imports `torchvision` even if torch is a CPU build and torchvision's wheel is for CUDA. All modules import it here.

Otherwise `import torchvision` ends in "operator torchvision::nms does not exist", since its compiled operators do not
load. Its models use none of them, so two empty definitions are enough.
"""

import sys

import torch

try:
    import torchvision
except RuntimeError as error:
    if "torchvision::nms" not in str(error):
        raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    # The definitions last as long as this object.
    _OPERATORS = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    for operator in ("nms", "qnms"):
        _OPERATORS.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
    import torchvision

__all__ = ["torchvision"]
