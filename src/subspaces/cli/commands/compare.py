"""`subspaces compare`: several methods on the same rows."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from subspaces._core.errors import InputError
from subspaces.cli import options as opt
from subspaces.cli import record, values
from subspaces.cli.configuration import ConfiguredCommand
from subspaces.cli.methods import METHODS, Method
from subspaces.cli.output import print_json, print_text, table
from subspaces.cli.targets import Target, claimed
from subspaces.cli.values import near

if TYPE_CHECKING:
    from subspaces.cli.comparison import Outcome

FILES = ("comparison.json", "comparison.csv", "labels.csv")


@click.command(cls=ConfiguredCommand)
@opt.data()
@opt.clusters
@click.option(
    "--methods",
    type=values.Names(),
    multiple=True,
    default=["all"],
    show_default="all",
    callback=values.collected,
    metavar="A,B,..",
    help="Methods to run, with commas: fls,lbf,ssc.",
)
@opt.dim
@click.option(
    "--repeats",
    type=values.Whole(1, 100),
    default=1,
    metavar="N",
    help="Fits of each method with different seeds, to measure its stability.",
)
@click.option(
    "--time-limit",
    type=values.Seconds(),
    default=600.0,
    metavar="SECONDS",
    help="With all methods, skip those that would take longer than this.",
)
@click.option(
    "--out",
    type=values.Place(folder=True),
    metavar="FOLDER",
    help="Folder for comparison.json, comparison.csv and labels.csv; none by default.",
)
@click.option("--details", is_flag=True, help="Print how far every pair of methods agrees, too.")
@opt.reading()
@opt.preparing
@opt.seed
@opt.config
@opt.force
@opt.talk
@click.pass_context
def compare(ctx: click.Context, /, **options: Any) -> None:
    """Run several methods on the same rows, side by side.

    Prints how long each method took, how far it agrees with the first one, and how good it is: against --truth, or else
    by the part of each row that its subspace does not explain. DATA are files as for subspaces fit. k-means, spectral
    clustering, a Gaussian mixture and HDBSCAN of scikit-learn are always shown beside them.
    """
    from subspaces.cli import comparison, rows

    options["data"] = [record.absolute(path) for path in options["data"]]
    methods, preparation = _chosen(options["methods"]), rows.preparation_of(options)
    out = None if options["out"] is None else record.path_of(options["out"])
    place: AbstractContextManager[Target | None] = nullcontext()
    if out is not None:
        place = claimed(out, force=options["force"], ours=FILES, inputs=options["data"])
    with place as target, rows.session(options) as (console, paths):
        table = rows.read(paths, options, console)
        prepared = rows.prepare(table, preparation, console, standardise=options["standardise"])
        outcomes = [comparison.run_method(method, prepared, options, console) for method in methods]
        if all(outcome.labels is None for outcome in outcomes):
            raise InputError(f"no method ran: {outcomes[0].method.name}: {outcomes[0].not_run}")
        outcomes += comparison.run_baselines(prepared, options, console)
        dim = comparison.measure(outcomes, prepared, options, console)
        line = shlex.join(["subspaces", *ctx.obj])
        document = comparison.document_of(outcomes, prepared, options, line, console, dim, rows.files_of(paths))
        if target is not None:
            comparison.write(target, document, outcomes, prepared)
    if options["json"]:
        print_json(document)
    else:
        print_text(_text(outcomes, document, details=options["details"]))


def _chosen(names: Sequence[str]) -> list[Method]:
    if "all" in names:
        return list(METHODS.values())
    for name in names:
        if name not in METHODS:
            raise InputError(
                f"--methods: {name!r} is not one of all, {', '.join(METHODS)}{near(name, ['all', *METHODS])}"
            )
    return [METHODS[name] for name in dict.fromkeys(names)]


def _text(outcomes: Sequence[Outcome], document: dict[str, Any], *, details: bool) -> str:
    done = [outcome for outcome in outcomes if outcome.labels is not None]
    first = done[0].method.name
    shown: list[tuple[str, Any]] = [("seconds", lambda o: f"{o.seconds:.2f}"), ("K", lambda o: str(o.n_clusters))]
    if any(outcome.scores for outcome in done):
        for head, name in (("accuracy", "accuracy"), ("ARI", "adjusted_rand"), ("NMI", "normalized_mutual_info")):
            shown.append((head, lambda o, name=name: _figure(o.scores.get(name))))
    if len(done) > 1:
        shown.append((f"like {first}", lambda o: _figure(document["agreement"][first][o.method.name], 2)))
    shown.append(("residual", lambda o: _figure(o.residual)))
    if any(outcome.agreement is not None for outcome in done):
        shown.append(("agreement", lambda o: _figure(o.agreement)))
    if any(outcome.stability is not None for outcome in done):
        shown.append(("stability", lambda o: _figure(o.stability)))
    rows = [[outcome.method.name, *(cell(outcome) for _, cell in shown)] for outcome in done]
    lines = [
        f"{document['n_rows']:,} rows of {document['n_columns']:,} columns",
        "",
        table(["method", *(head for head, _ in shown)], rows),
        "",
        *(
            [f"like {first}: how far the clusters are those of {first}; 1 is the same, 0 is chance"]
            if len(done) > 1
            else []
        ),
        f"residual: the part of a typical row that the subspace of dimension {document['residual_dimension']} of its "
        "cluster, fitted to other rows, does not explain",
    ]
    if any(outcome.agreement is not None for outcome in done):
        lines.append("agreement: how far other landmarks of the same fit give the same clusters, if it is measured")
    if any(outcome.stability is not None for outcome in done):
        lines.append("stability: adjusted Rand index between the labels of different seeds")
    lines += [
        f"{outcome.method.name}: fitted to {outcome.n_fitted:,} rows; other rows have the label of the nearest of them"
        for outcome in done
        if outcome.n_fitted is not None and outcome.method.name not in ("k-means", "mixture")
    ]
    lines += [f"{outcome.method.name}: {outcome.not_run}" for outcome in outcomes if outcome.not_run is not None]
    if len(done) > 2 and not details:
        lines.append("--details shows how far every pair of methods agrees")
    elif len(done) > 1:
        found = document["agreement"]
        names = [outcome.method.name for outcome in done]
        cells = [[name, *(_figure(found[name][other], 2) for other in names)] for name in names]
        lines += ["", "adjusted Rand index of every pair:", table(["", *names], cells)]
    return "\n".join(lines)


def _figure(value: float | None, digits: int = 3) -> str:
    # Adding zero removes the sign of -0.0.
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"
