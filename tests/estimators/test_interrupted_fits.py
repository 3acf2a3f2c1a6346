"""A fit that raises or is interrupted leaves the estimator as it was, without any reference to the rows.

Python calls a trace function whenever a function is called; the one here raises at the first call of a chosen function
of `subspaces`, in the main thread or in a worker. The functions are chosen all along the fit.
"""

import gc
import os
import sys
import threading
import weakref
from contextlib import contextmanager, suppress
from types import FunctionType, ModuleType

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

import subspaces
from subspaces import (
    FLS,
    KASP,
    LBF,
    SLBF,
    SSC,
    SSSC,
    FourierSpectralClustering,
    KernelSpectralClustering,
    KFlats,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
    open_rows,
)
from subspaces._core import threads
from subspaces._core import threads as _threads
from subspaces._core.progress import listening
from subspaces.datasets import make_subspaces

PLANES = make_subspaces((2, 2), 5, points_per_subspace=60, noise=0.01, random_state=0)[0]
BLOBS = make_blobs(90, centers=3, n_features=4, random_state=0)[0]
# Fewer landmarks than rows, so that further landmark sets are possible.
AUTO = FLS(2, n_landmarks=30, neighborhood=9, affine=False, random_state=0)
# Nothing is searched.
GIVEN = clone(AUTO).set_params(subspace_dim=2, assign="balanced")
PAPER = FLS.paper(2, subspace_dim=2, n_landmarks=30, random_state=0)
ESTIMATORS = {
    "FLS": (AUTO, PLANES),
    "FLS, number of flats": (clone(AUTO).set_params(n_clusters="auto", max_clusters=3), PLANES),
    "FLS, number of clusters of a graph": (
        FLS("auto", max_clusters=3, n_landmarks=30, subspace_dim=1, neighborhood=9, random_state=0),
        BLOBS,
    ),
    "FLS, votes and outliers": (clone(GIVEN).set_params(n_draws=3, detect_outliers=True), PLANES),
    "FLS.paper, share of outliers": (clone(PAPER).set_params(detect_outliers=0.1), PLANES),
    "LandmarkSpectralClustering": (LandmarkSpectralClustering(3, n_landmarks=30, random_state=0), BLOBS),
    "NystromSpectralClustering": (NystromSpectralClustering(3, n_landmarks=30, random_state=0), BLOBS),
    "FourierSpectralClustering": (FourierSpectralClustering(3, n_features=40, random_state=0), BLOBS),
    "KernelSpectralClustering": (KernelSpectralClustering(3, random_state=0), BLOBS),
    "KASP": (KASP(3, n_centroids=20, random_state=0), BLOBS),
    "KFlats": (KFlats("auto", subspace_dim=2, max_clusters=2, n_init=2, random_state=0), PLANES),
    "LBF": (LBF(2, subspace_dim=2, random_state=0), PLANES),
    "SLBF": (SLBF(2, subspace_dim=2, random_state=0), PLANES),
    "SSC": (SSC(2, random_state=0), PLANES),
    "SSSC": (SSSC(2, n_in_sample=40, random_state=0), PLANES),
}
# Where decisions are made on a sample, and all other rows are read again in blocks.
SAMPLED = {
    "FLS": GIVEN,
    "FLS.paper": PAPER,
    "LandmarkSpectralClustering": LandmarkSpectralClustering(2, n_landmarks=30, random_state=0),
    "KFlats": KFlats(2, subspace_dim=2, n_init=2, random_state=0),
}
# Functions of the estimators to interrupt, and of all other modules.
N_STEPS = 6
SOURCE = os.path.dirname(subspaces.__file__) + os.sep


class Interrupted(BaseException):
    """Like KeyboardInterrupt, but no other code can raise it."""


@contextmanager
def tracing(function):
    """Call `function(code)` when a function with this code is called, in this thread and in those started meanwhile."""
    active = True

    def trace(frame, *_):
        if active:
            function(frame.f_code)

    # Threads that were started before would not be traced.
    _threads._POOL.forget()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield
    finally:
        active = False
        sys.settrace(None)
        threading.settrace(None)


def steps_of(fit, *, only_workers=False):
    """Code of functions of `subspaces` that a fit calls, in the order of their first calls."""
    main, seen = threading.get_ident(), {}

    def record(code):
        if not (only_workers and threading.get_ident() == main):
            seen[code] = None

    with tracing(record):
        fit()
    # An interruption in the code that restores limits of threads, which are global, would leave them.
    return [
        code
        for code in seen
        if SOURCE in code.co_filename and not code.co_filename.endswith("_core/threads.py") and code.co_name[0] != "<"
    ]


def some_of(values, count=N_STEPS):
    """At most `count` of the values, from the first to the last."""
    return [values[i] for i in np.unique(np.linspace(0, len(values) - 1, count).astype(int))]


def chosen_steps(estimator, rows):
    """Some functions that a fit calls: of the estimators, and of all other modules."""
    # Not the first fit: functions with cached results are not called again.
    fitted = clone(estimator).fit(rows)
    codes = steps_of(lambda: fitted.fit(rows))
    own = [code for code in codes if "estimators" in code.co_filename]
    return some_of(own) + some_of([code for code in codes if code not in own])


def attributes(estimator):
    """The attributes of an estimator, as the objects they are."""
    return {name: id(value) for name, value in vars(estimator).items()}


def reachable_arrays(estimator):
    """Identities of all NumPy arrays that can be reached from an estimator."""
    seen, todo, arrays = set(), [vars(estimator)], set()
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | FunctionType):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            arrays.add(id(value))
        todo.extend(gc.get_referents(value))
    return arrays


def interrupt(estimator, rows, step):
    """Interrupt a fit at the first call of a function; the estimator must be as before."""
    assert interrupt_in_thread(estimator, rows, step, lambda ident: True)


def interrupt_in_thread(estimator, rows, step, is_meant):
    """The same in threads whose ident `is_meant`; returns whether one of these called the function."""
    reached = False

    def stop(code):
        nonlocal reached
        if code is step and is_meant(threading.get_ident()):
            reached = True
            raise Interrupted(step)

    before, arrays = attributes(estimator), reachable_arrays(estimator)
    with suppress(Interrupted), tracing(stop):
        estimator.fit(rows)
        assert not reached, "the interruption was lost"
        return False
    assert attributes(estimator) == before, step
    assert reachable_arrays(estimator) == arrays, step
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interruption_at_any_step_changes_nothing(name):
    estimator, rows = ESTIMATORS[name]
    unfitted, fitted = clone(estimator), clone(estimator).fit(rows)
    expected = fitted.predict(rows)
    references = []
    for number, step in enumerate(chosen_steps(estimator, rows)):
        copy = rows.copy()
        references.append(weakref.ref(copy))
        interrupt(unfitted if number % 2 else fitted, copy, step)
    del copy
    gc.collect()
    assert not [reference for reference in references if reference() is not None]
    np.testing.assert_array_equal(fitted.predict(rows), expected)
    np.testing.assert_array_equal(unfitted.fit(rows).predict(rows), expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_error_in_any_progress_report_changes_nothing(name):
    estimator, rows = ESTIMATORS[name]
    events = []
    with listening(events.append):
        fitted = clone(estimator).fit(rows)
    for model in (clone(estimator), fitted):
        before = attributes(model)
        for number in some_of(range(len(events)), 4):
            left = iter(range(number + 1))

            def fail(event, left=left, number=number):
                if next(left) == number:
                    raise Interrupted(event)

            with listening(fail), pytest.raises(Interrupted):
                model.fit(rows)
            assert attributes(model) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("file", name) for name in SAMPLED), ("dask", "FLS"), ("dask", "KFlats")],
)
@pytest.mark.usefixtures("few_fit_rows")
def test_an_interruption_of_a_fit_to_blocks_changes_nothing(kind, name, tmp_path):
    many = make_subspaces((2, 2), 5, points_per_subspace=700, noise=0.01, shuffle=True, random_state=0)[0]
    if kind == "file":
        np.save(tmp_path / "rows.npy", many)
        rows = open_rows(tmp_path / "rows.npy", block_rows=500)
    else:
        rows = pytest.importorskip("dask.array").from_array(many, chunks=(500, 5))
    estimator = SAMPLED[name]
    unfitted, fitted = clone(estimator), clone(estimator).fit(rows)
    for number, step in enumerate(chosen_steps(estimator, rows)):
        interrupt(unfitted if number % 2 else fitted, rows, step)
    np.testing.assert_array_equal(np.asarray(unfitted.fit(rows).labels_), np.asarray(fitted.labels_))


def test_an_interruption_in_a_worker_thread_changes_nothing(monkeypatch):
    monkeypatch.setattr(threads, "FEW_ENTRIES", 0)
    estimator, rows, main = clone(PAPER), np.tile(PLANES, (200, 1)), threading.get_ident()
    with threadpool_limits(2, user_api="blas"):
        steps = steps_of(lambda: estimator.fit(rows), only_workers=True)
        assert steps, "no worker threads"
        for step in some_of(steps):
            # Which thread takes which part of the work is chance.
            tries = (interrupt_in_thread(clone(estimator), rows, step, main.__ne__) for _ in range(50))
            assert any(tries), step


@pytest.mark.parametrize("name", ["FLS", "LandmarkSpectralClustering", "KFlats", "SSC"])
def test_rows_that_are_refused_change_nothing(name):
    estimator, rows = ESTIMATORS[name]
    fitted = clone(estimator).fit(rows)
    for model in (clone(estimator), fitted):
        before = attributes(model)
        for wrong in (np.full_like(rows, np.nan), rows[:, :0], [["a", "b"]]):
            with pytest.raises(ValueError, match=r"."):
                model.fit(wrong)
            assert attributes(model) == before
