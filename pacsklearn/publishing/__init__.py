"""Released models as files that can be given away: signed bundles, cards, ONNX."""
