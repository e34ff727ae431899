"""The deacon keeps the board and the machine tidy while others work."""
