"""What people and programs talk to. Interfaces translate; they never decide."""
