"""Methods by name."""

import pytest

from subspaces._core.errors import InputError
from subspaces.cli.methods import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_builds_what_it_says(name):
    method = METHODS[name]
    dim = 3 if method.needs_dim else "auto"
    method.check(4, dim)
    model = method.build(4, dim, 7, {})
    assert type(model).__name__ == method.estimator
    assert model.get_params()["n_clusters"] == 4
    assert model.get_params()["random_state"] == 7
    assert method.seconds(1000, 50) > 0


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_a_number_of_threads(name):
    method = METHODS[name]
    dim = 3 if method.needs_dim else "auto"
    assert method.build(4, dim, 7, {}, n_jobs=2).n_jobs == 2
    assert method.build(4, dim, 7, {}).n_jobs is None


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_says_of_itself_is_so(name):
    import inspect

    method = METHODS[name]
    parameters = inspect.signature(method.builder()).parameters
    assert ("subspace_dim" in parameters) == method.takes_dim
    assert ("max_clusters" in parameters) == method.counts


def test_solvers_have_names_of_their_own():
    assert METHODS["tsc"].build(3, "auto", 0, {}).solver == "thresholding"
    assert METHODS["tsc"].title == 'SSC(solver="thresholding")'
    assert METHODS["ssc"].build(3, "auto", 0, {"solver": "omp"}).solver == "omp"
    with pytest.raises(InputError, match="use --method ssc"):
        METHODS["lsr"].build(3, "auto", 0, {"solver": "omp"})


def test_what_is_refused():
    with pytest.raises(InputError, match="needs the number of clusters"):
        METHODS["ssc"].check("auto", "auto")
    with pytest.raises(InputError, match="needs the dimension"):
        METHODS["fls-paper"].check(3, "auto")
    with pytest.raises(InputError, match="does not fit subspaces"):
        METHODS["kasp"].check(3, 2)
    with pytest.raises(InputError, match="did you mean n_landmarks"):
        METHODS["fls"].build(3, "auto", 0, {"n_landmark": 5})
    with pytest.raises(InputError, match="use its own option, -k"):
        METHODS["fls"].build(3, "auto", 0, {"n_clusters": 5})


def test_a_refusal_separates_the_reason_from_the_remedy():
    refusal = METHODS["ssc"].refusal("auto", "auto")
    assert refusal.reason == "needs the number of clusters, such as -k 10"
    assert "subspaces choose" in refusal.remedy
    assert METHODS["ssc"].refusal(3, "auto") is None
