"""What this machine has: cores, memory and other resources, machine code."""
