"""The witness: gives tasks to sessions, starts, watches, stops and judges them."""
