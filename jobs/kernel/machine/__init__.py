"""What this machine has: cores, addresses, room, machine code."""
