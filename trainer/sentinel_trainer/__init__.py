"""Trains, converts, merges, evaluates and inspects LoRA adapters. Each command writes one JSON object a line to stdout."""

__version__ = "0.1.0"
