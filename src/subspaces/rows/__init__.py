"""Where rows come from and what is done to them first."""
