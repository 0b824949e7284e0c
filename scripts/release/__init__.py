"""What a release takes beside the wheels."""
