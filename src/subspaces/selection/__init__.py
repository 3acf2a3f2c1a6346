"""Every decision that is made without labels.

- `choosing`: the one entry `choose`, from rows and `Asked` to a frozen `Setting` (`setting`); calls the searches below
- `units`: whether columns are standardised
- `comparison`: when one candidate is clearly better than another
- `search`: how the graph is made; `flat_count`, `graph_count`: the number of clusters
- `partition`: which cut of the graph; `clustering`: one clustering of the rows
- `flat_search`, `structure`, `coding`: K whole flats; whether clusters are flat, blobs or bent
- `drawn_flats`: a graph for flats that were found without one
- `flat_dimension`: the dimension of `LBF` and `KFlats` in few columns
- `confidence`, `voting`, `joint`, `consensus`: whether other landmarks agree, and several sets of them as one
- `record`, `record_text`, `record_words`, `record_plot`, `decisions`: what was chosen and why (`choice_`)
- `evidence`, `verdict`: what structure was found, how far to trust it, and what to do (`verdict_`)
- `thresholds`: numbers of rules; `limits`: sizes of searches; `verdict_thresholds`: numbers that change only words
"""

from subspaces.selection.choosing import choose
from subspaces.selection.evidence import Evidence, gather
from subspaces.selection.record import Choice, Decision
from subspaces.selection.setting import Asked, Setting
from subspaces.selection.verdict import Verdict, judge

__all__ = ["Asked", "Choice", "Decision", "Evidence", "Setting", "Verdict", "choose", "gather", "judge"]
