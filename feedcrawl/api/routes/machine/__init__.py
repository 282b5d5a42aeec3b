"""Routes that programs call: resources, events, metrics and health."""
