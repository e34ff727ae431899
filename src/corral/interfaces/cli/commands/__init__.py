"""The commands of the command line, grouped as the catalogue groups them."""
