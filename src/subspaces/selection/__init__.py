"""Every decision that is made without labels.

- `choosing`: the one entry `choose`, from rows and `Asked` to a frozen `Setting`; calls the searches below
- `comparison`: when one candidate is clearly better than another
- `search`: how the graph is made; `flat_count`, `graph_count`: the number of clusters
- `partition`: which cut of the graph; `clustering`: one clustering of the rows
- `structure`, `coding`: flat, blobs or bent, and K whole flats instead of a cut
- `confidence`, `voting`, `joint`, `consensus`: whether other landmarks agree, and several sets of them as one
- `record`, `record_text`, `record_plot`, `decisions`: what was chosen and why (`choice_`)
- `evidence`, `verdict`: what structure was found, how far to trust it, and what to do (`verdict_`)
- `thresholds`: all numbers that change labels; `limits`: those of time; `verdict_thresholds`: those of words
"""

from subspaces.selection.choosing import choose
from subspaces.selection.evidence import Evidence, gather
from subspaces.selection.record import Choice, Decision
from subspaces.selection.setting import Asked, Setting
from subspaces.selection.verdict import Verdict, judge

__all__ = ["Asked", "Choice", "Decision", "Evidence", "Setting", "Verdict", "choose", "gather", "judge"]
