"""Rules of HTTP messages: validators, hints, redirects, codings, encodings, robots access."""
