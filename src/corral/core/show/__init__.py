"""What people and programs are shown: plain values made from the state."""
