"""Progress of fits as events, for bars and logs of your own: `with listening(function): model.fit(X)`."""

from subspaces._core.progress import Event, listening

__all__ = ["Event", "listening"]
