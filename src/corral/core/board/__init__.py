"""The board: commands on convoys and tasks, and the rules that decide them."""
