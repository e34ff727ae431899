"""The refinery stacks changes, checks them, and lands them on the convoys' trunks."""
