"""Metrics and traces for operators."""
