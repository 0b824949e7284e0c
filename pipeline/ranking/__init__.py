"""Arrays in, arrays out: classes, certificates, OPIC, correlations."""
