"""Rules of WebSub: subscription leases and the protocol's messages."""
