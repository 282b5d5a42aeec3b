"""Rules for operators and consumers: tokens, events, Kafka messages, tables, statistics."""
