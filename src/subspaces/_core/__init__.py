"""Arrays, blocks, threads, validation, logging and files: what every room builds on."""
