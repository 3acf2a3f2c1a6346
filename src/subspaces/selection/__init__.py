"""Every decision that is made without labels."""
