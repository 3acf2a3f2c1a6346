"""The experiments (`reproduce`) and the theory (`theory`) of the paper."""
