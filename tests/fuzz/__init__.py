"""A fuzzer for all readers, which mutates valid files; run it by `make fuzz`."""
