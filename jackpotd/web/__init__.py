"""HTTP: the signs and values for anyone, the floor's requests, and metrics."""
