"""The laboratory: Adaptive OPIC simulated and measured, and a page to watch OPIC work."""
