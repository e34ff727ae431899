"""What people and programs are shown: plain values derived from the state."""
