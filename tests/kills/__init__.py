"""Series of random kills; run them by `make kills`."""
