"""The witness gives tasks to sessions; it starts, watches, stops and judges them."""
