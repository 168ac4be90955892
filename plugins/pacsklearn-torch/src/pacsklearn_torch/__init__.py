"""PyTorch modules for pacsklearn, trained by noised, clipped gradient steps.

torch itself is imported when a model is first trained.
"""

from pacsklearn_torch.classifier import SRPPTorchClassifier

__all__ = ["SRPPTorchClassifier"]
