"""Programs for working on Corral that are not part of the package."""
