"""The report as a whole: content for every estimator, verdict, escaping, arguments."""

import base64
import copy
import hashlib
import inspect
import json
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
)
from subspaces.datasets import make_subspaces
from subspaces.report import Report, Run, describe
from subspaces.selection.verdict import RELIABLE, UNCONFIRMED
from subspaces.show.report.clusters import cluster_facts
from subspaces.show.report.evidence import evidence_boxes
from subspaces.show.report.plain import name_text, number, to_json
from subspaces.show.report.report import SCRIPTS
from subspaces.show.report.subject import make_subject
from subspaces.show.report.verdict import own_warnings, verdict_data

X, Y = make_subspaces((2, 2), 6, points_per_subspace=120, outliers=0.1, random_state=0)
HOSTILE = [
    "<script>window.__hacked = 1</script>",
    "</script><script>window.__hacked = 1</script>",
    '"><img src=x onerror="window.__hacked = 1">',
    "javascript:window.__hacked = 1",
    "<!--<script>",
    "\u2028\u2029\x00\x1b[31m\ud800 ${alert(1)} &amp;",
]
MODELS = {
    "FLS": FLS(2, random_state=0),
    "auto": FLS("auto", detect_outliers=True, max_clusters=4, random_state=0),
    "paper": FLS.paper(2, subspace_dim=2, n_landmarks=60, random_state=0),
    "LBF": LBF(2, random_state=0),
    "KFlats": KFlats(2, n_init=2, random_state=0),
    "KFlats scaled": KFlats(2, n_init=2, affine=False, normalize=True, random_state=0),
    "SLBF": SLBF(2, random_state=0),
    "SSC": SSC(2, solver="omp", random_state=0),
    "SSSC": SSSC(2, n_in_sample=100, random_state=0),
    "landmarks": LandmarkSpectralClustering(2, random_state=0),
    "Nystrom": NystromSpectralClustering(2, random_state=0),
    "Fourier": FourierSpectralClustering(2, n_features=200, random_state=0),
    "KASP": KASP(2, random_state=0),
    "kernel": KernelSpectralClustering(n_clusters=2, random_state=0),
}


def fitted(model, rows=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


@pytest.fixture(scope="module")
def flats():
    return fitted(KFlats(2, n_init=2, random_state=0))


class Page(HTMLParser):
    """Tags of a page, and the text of its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self._in = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = tag

    def handle_data(self, data):
        if self._in in ("script", "style"):
            self.texts.append((self._in, data))

    def handle_endtag(self, tag):
        self._in = None


@pytest.mark.parametrize("name", MODELS)
def test_every_estimator(name):
    report = describe(fitted(MODELS[name]), X, truth=Y, n_stability=1)
    data = json.loads(to_json(report.data))
    assert data == report.data
    assert [each["size"] for each in data["clusters"]] == [
        int((MODELS[name].labels_ == k).sum()) for k in range(len(data["clusters"]))
    ]
    assert (data["eigenvalues"] is None) == (not hasattr(MODELS[name], "eigenvalues_"))
    assert bool(data["choice"]) == (hasattr(MODELS[name], "choice_") and len(MODELS[name].choice_) > 0)
    landmarks = ("FLS", "auto", "paper", "landmarks", "KASP", "kernel")
    assert (data["landmarks"] is not None) == (name in landmarks)
    assert data["stability"]["fits"][0]["seed"] == 1
    assert "<title>Clusters found by" in report.to_html()


def plain_subject(model, rows):
    """What `describe(model, rows)` describes."""
    return make_subject(model, rows, **dict.fromkeys(list(inspect.signature(make_subject).parameters)[2:]))


def test_verdict_on_good_and_on_random_clusters():
    good = describe(fitted(KFlats(2, n_init=2, random_state=0)), X, truth=Y, n_stability=2).data
    assert (good["verdict"]["trust"], good["verdict"]["level"]) == ("reliable", "good")
    texts = {box["name"]: box["text"] for box in good["evidence"]}
    assert "2 fits with other seeds" in texts["Do other seeds give the same clusters?"]
    noise = np.random.RandomState(0).standard_normal((300, 8))
    bad = describe(fitted(FLS(4, random_state=0), noise), noise, n_stability=2).data["verdict"]
    assert (bad["structure"], bad["level"]) == ("none", "poor")
    assert bad["text"].startswith("Unreliable. No separate clusters")


def test_distances_to_flats_of_several_dimensions_are_not_held_against_the_clusters():
    """A plane is nearer to rows of a blob than their own centre is."""
    model = FLS(2, random_state=0).fit(X)
    subject = plain_subject(model, X)
    for dims, level in (([2, 0], "neutral"), ([0, 0], "poor")):
        found = cluster_facts(subject)
        facts = replace(found, dims=np.array(dims), other=found.own / 2)
        boxes = {box["name"]: box["level"] for box in evidence_boxes(subject, facts, model.verdict_, None)}
        assert boxes["How many rows are nearer to another cluster?"] == level


def test_the_box_about_the_number_of_clusters_follows_the_verdict():
    model = FLS(2, random_state=0).fit(X)
    advised = replace(model.verdict_, advice=("3 clusters.",))
    for verdict, level in ((model.verdict_, "neutral"), (advised, "fair")):
        model.verdict_ = verdict
        boxes = describe(model, X, n_stability=0).data["evidence"]
        (box,) = [each for each in boxes if each["name"] == "Is the number of clusters right?"]
        assert box["level"] == level
        assert ("The verdict suggests 3 clusters." in box["text"]) == (verdict is advised)


def test_the_verdict_of_fls_is_shown_as_it_is():
    model = FLS(2, random_state=0).fit(X)
    for index in (slice(None), slice(0, 40)):
        data = describe(model, X[index], labels=model.labels_[index], n_stability=0).data["verdict"]
        assert {name: data[name] for name in model.verdict_.to_dict()} == model.verdict_.to_dict()
    other = describe(model, X, labels=1 - model.labels_, n_stability=0).data["verdict"]
    assert other["evidence"]["n_rows"] == len(X)
    random = np.random.RandomState(0).randint(2, size=len(X))
    assert describe(model, X, labels=random, n_stability=0).data["verdict"]["trust"] != "reliable"


def test_known_classes_add_a_sentence_to_the_verdict(flats):
    other = np.random.RandomState(1).randint(2, size=len(X))
    verdict = describe(flats, X, truth=other, n_stability=1).data["verdict"]
    assert verdict["trust"] == describe(flats, X, n_stability=1).data["verdict"]["trust"]
    assert "for only" in verdict["text"]


def test_refits_that_differ_do_not_contradict_the_verdict():
    """Landmarks may agree where seeds do not; the sentence below the headline must not say that all repeat."""
    verdict = replace(FLS(2, random_state=0).fit(X).verdict_, trust=UNCONFIRMED)
    agreeing = verdict_data(verdict, None, {"mean": 0.95})
    differing = verdict_data(verdict, None, {"mean": 0.5})
    assert agreeing["meaning"] == verdict.meaning == verdict_data(verdict, None)["meaning"]
    assert "other seeds do not" in differing["meaning"]
    assert differing["trust"] == agreeing["trust"]
    reliable = verdict_data(replace(verdict, trust=RELIABLE), None, {"mean": 0.7})
    assert reliable["trust"] == RELIABLE
    assert "other seeds and fewer rows differ" in reliable["meaning"]


@pytest.mark.parametrize(("agreement", "words"), [(0.7, "partly other clusters"), (0.3, "give other clusters")])
def test_refits_that_differ_are_warned_of(flats, agreement, words):
    warned = own_warnings(plain_subject(flats, X), {"mean": agreement})
    assert words in warned[-1]


def test_without_refits(flats):
    data = describe(flats, X, n_stability=0).data
    assert data["stability"] is None
    assert data["verdict"]["evidence"]["seeds"] is None
    assert data["clusters"][0]["kept"] is None
    with pytest.raises(ValueError, match="n_stability=-1"):
        describe(flats, X, n_stability=-1)


def test_refits_stop_at_the_time_limit(flats, monkeypatch):
    monkeypatch.setattr("subspaces.show.report.stability.MOST_SECONDS", 0.0)
    found = describe(flats, X, n_stability=3).data["stability"]
    assert (len(found["fits"]), found["asked"]) == (1, 3)


@pytest.mark.parametrize(("seconds", "count"), [(1e-9, 1), (1e9, 3)])
def test_refits_take_no_longer_than_the_fit(flats, seconds, count):
    found = describe(flats, X, run=Run(fit_seconds=seconds)).data["stability"]
    assert (len(found["fits"]), found["asked"]) == (count, None)


def test_refits_without_a_known_time_of_the_fit(flats, monkeypatch):
    # One refit of 80 % of the rows takes about as long as the fit; of 1 % of them, several do.
    assert len(describe(flats, X).data["stability"]["fits"]) == 1
    monkeypatch.setattr("subspaces.show.report.stability.ROW_SHARE", 0.02)
    monkeypatch.setattr("subspaces.show.report.stability._refit", lambda model, x, seed: (np.zeros(len(x), int), False))
    assert len(describe(flats, X).data["stability"]["fits"]) > 1


def test_failed_refit_is_reported():
    few = X[:120]
    model = fitted(SSSC(3, n_in_sample=100, random_state=0), few)
    model.n_in_sample = 2
    fit = describe(model, few, n_stability=1).data["stability"]["fits"][0]
    assert "n_in_sample=2" in fit["failed"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_escaped(flats, text):
    truth = np.where(flats.labels_ == 0, text, "b")
    run = Run(title=text, command=text, stages=((text, 1.0),), versions={text: text}, data=(text,), warnings=(text,))
    report = describe(
        flats, X, columns=[text] * 6, row_names=[text] * len(X), truth=truth, run=run, n_stability=0, max_points=20
    )
    html = report.to_html()
    html.encode()  # fails on lone surrogates
    page = Page(html)
    assert [tag for tag, _ in page.tags if tag in ("script", "img", "iframe", "object", "link")] == ["script"] * 2
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    block = next(body for kind, body in page.texts if kind == "script" and body.startswith("{"))
    assert not re.search(r"[<>&\u2028\u2029]", block)
    assert json.loads(block) == report.data
    assert report.data["scatter"]["columns"][0] == name_text(text)


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_notebooks_show_a_short_version(flats, text):
    report = describe(flats, X, columns=[text, *"bcdef"], run=Run(title=text, warnings=(text,)), n_stability=0)
    html = report._repr_html_()
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= {
        "p",
        "strong",
        "ul",
        "li",
        "code",
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert len([tag for tag, _ in page.tags if tag == "tr"]) == 3
    assert report.data["verdict"]["text"] in html
    assert len(html) < 5000
    with_images = describe(flats, X, images=np.zeros((len(X), 3, 3)), n_stability=0)._repr_html_()
    assert "what makes it different" not in with_images


def test_print_shows_the_short_version(flats):
    report = describe(flats, X, columns=["red\x1b[31m", *"bcdef"], n_stability=0)
    lines = str(report).splitlines()
    assert lines[1].startswith(report.data["verdict"]["text"])
    reasons = report.data["verdict"]["reasons"]
    assert lines[2 : 2 + len(reasons)] == [f"- {each}" for each in reasons]
    table = [line.split() for line in lines if "%" in line]
    assert [line[:2] for line in table] == [[str(i), str(n)] for i, n in enumerate(np.bincount(flats.labels_))]
    assert "\x1b" not in str(report)


def test_choices_begin_with_the_answer():
    model = fitted(FLS("auto", max_clusters=3, random_state=0))
    assert describe(model, X, n_stability=0).data["answer"] == model.choice_.answer
    assert model.choice_.answer.startswith("2 clusters were chosen. They are flat")


def test_content_security_policy(flats):
    page = Page(describe(flats, X, n_stability=0).to_html())
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        body = [text for found, text in page.texts if found == kind and not text.startswith("{")]
        digest = base64.b64encode(hashlib.sha256("".join(body).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [attrs for _, attrs in page.tags if "src" in attrs or "style" in attrs]


def test_scripts_never_insert_html():
    folder = files("subspaces.show.report") / "page"
    assert {each.name for each in folder.iterdir() if each.name.endswith(".js")} == set(SCRIPTS)
    for name in SCRIPTS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttp|https?://(?!www\.w3\.org/2000/svg)",
            (folder / name).read_text("utf-8"),
        ), name


def test_save_does_not_overwrite_by_default(flats, tmp_path):
    report = describe(flats, X, n_stability=0)
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == report.to_html()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        report.save(tmp_path / "page.html")
    Report(report.data | {"title": "other"}).save(tmp_path / "page.html", overwrite=True)
    assert "<h1>other</h1>" in (tmp_path / "page.html").read_text("utf-8")


def test_columns_that_dominate_are_named():
    rng = np.random.RandomState(0)
    rows = np.column_stack([np.arange(120), 1e6 * rng.standard_normal(120), rng.standard_normal((120, 4))])
    model = fitted(KFlats(2, subspace_dim=1, n_init=1, random_state=0), rows)
    columns = ["id", "income", *"abcd"]
    found = describe(model, rows, columns=columns, n_stability=0).data["warnings"]
    assert found[0].startswith("Column 'id' numbers the rows")
    assert found[1].startswith("Column 'income' of 6 has 99.9% of the variance")
    # A warning of the run is not repeated.
    run = Run(warnings=("column 'income' of 6 has 99.9% of the variance and dominates distances: use --standardise",))
    merged = describe(model, rows, columns=columns, run=run, n_stability=0).data["warnings"]
    assert [each.partition(" of 6 has")[0] for each in merged[:1]] == ["Column 'income'"]
    assert len(merged) == 2
    scaled = fitted(FLS(2, standardise=True, random_state=0), rows)
    assert not any("income" in each for each in describe(scaled, rows, columns=columns, n_stability=0).data["warnings"])


def test_non_finite_numbers():
    assert [number(value) for value in (np.nan, np.inf, None, np.float32(0.1), np.int64(3))] == [None] * 3 + [0.1, 3]
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json([float("nan")])


def test_array_for_a_model_fitted_to_a_table():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    page = describe(KFlats(2, random_state=0).fit(frame), X[:100], n_stability=1)
    assert page.data["summary"]["n_rows"] == 100


def test_too_few_rows_or_clusters_are_not_good():
    rows = np.repeat([[0.0, 0, 0], [5, 5, 5]], [40, 3], axis=0) + 0.01 * np.random.RandomState(0).normal(size=(43, 3))
    small = describe(KFlats(2, subspace_dim=1, random_state=0).fit(rows), rows, labels=np.repeat([0, 1], [40, 3])).data
    assert small["verdict"]["level"] != "good"
    assert "fewer than 5 rows" in " ".join(small["verdict"]["reasons"])
    alone = describe(KFlats(1, subspace_dim=1, random_state=0).fit(rows), rows).data
    assert alone["verdict"]["level"] != "good"
    assert "only one cluster" in alone["verdict"]["reasons"][0]


def test_row_numbers():
    numbers = 1000 + 3 * np.arange(len(X))
    data = describe(fitted(KFlats(2, random_state=0)), X, row_numbers=numbers, n_stability=0, max_points=50).data
    assert set(data["scatter"]["rows"]) <= set(numbers.tolist())
    assert {row["row"] for each in data["examples"] for row in each["typical"]} <= set(numbers.tolist())
    with pytest.raises(ValueError, match=r"row_numbers has shape \(3,\)"):
        describe(fitted(KFlats(2, random_state=0)), X, row_numbers=[1, 2, 3])


def test_model_without_labels():
    model = copy.copy(fitted(KFlats(2, random_state=0)))
    labels = model.labels_
    del model.labels_
    for given in (labels, None):
        assert describe(model, X, labels=given, n_stability=0).data["summary"]["n_clusters"] == 2


def test_seeds_wrap_around():
    data = describe(fitted(KFlats(2, random_state=0)), X, n_stability=2, random_state=2**32 - 1).data
    assert [fit["seed"] for fit in data["stability"]["fits"]] == [1, 2]


def test_outliers():
    model = fitted(FLS(2, detect_outliers=True, random_state=0))
    assert (model.labels_ == -1).any()
    data = describe(model, X, n_stability=0).data
    assert data["summary"]["n_outliers"] == (model.labels_ == -1).sum()
    assert data["examples"][-1]["cluster"] == -1
    assert {row["own"] for row in data["examples"][-1]["outlying"]} == {None}
    assert sum(each["size"] for each in data["clusters"]) + data["summary"]["n_outliers"] == len(X)


def test_one_cluster_and_empty_clusters(flats):
    data = describe(fitted(KFlats(1, random_state=0)), X, n_stability=1).data
    assert data["clusters"][0]["nearest"] is None
    assert data["angles"] is None
    labels = np.where(np.arange(len(X)) == 0, 4, 2)
    data = describe(flats, X, labels=labels, n_stability=0).data
    assert [each["size"] for each in data["clusters"]] == [0, 0, len(X) - 1, 0, 1]
    assert data["warnings"][0].startswith("Clusters 0, 1, 3 are empty")
    assert data["warnings"][1].startswith("Cluster 4 has fewer than 5 rows")
    data = describe(flats, X, labels=np.full(len(X), -1), n_stability=1).data
    assert data["warnings"][-1].startswith("100.0")


def test_some_rows_with_their_labels():
    model = fitted(FLS(2, random_state=0))
    some = np.arange(0, len(X), 2)
    data = describe(model, X[some], labels=model.labels_[some], n_stability=0).data
    # confidence_ belongs to the rows of fit, not to these.
    assert data["scatter"]["confidence"] is None
    given = describe(model, X[some], confidence=np.full(len(some), 0.5), n_stability=0).data
    assert given["scatter"]["labels"] == data["scatter"]["labels"]
    assert set(given["scatter"]["confidence"]) == {0.5}


def test_invalid_arguments(flats):
    for given, words in [
        ({"labels": [0, 1]}, "labels have shape"),
        ({"labels": np.full(len(X), -2)}, "from 0, and -1 for outliers"),
        ({"columns": ["a"]}, "1 names for 6 columns"),
        ({"row_names": ["a"]}, "row_names has shape"),
        ({"image_shape": (2, 2)}, "has 4 pixels, but rows have 6"),
        ({"images": np.zeros((3, 2, 2))}, "3 images for"),
        ({"max_points": 0}, "max_points=0"),
    ]:
        with pytest.raises(ValueError, match=words):
            describe(flats, X, n_stability=0, **given)
    with pytest.raises(ValueError, match="pass rows in memory"):
        describe(flats, X[:0], n_stability=0)


def test_columns_of_tables_and_pipelines():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = make_pipeline(StandardScaler(), KFlats(2, n_init=2, random_state=0)).fit(frame)
    data = describe(model, frame, n_stability=1).data
    assert data["scatter"]["columns"] == list("abcdef")
    np.testing.assert_allclose(data["scatter"]["values"][0], X[0], rtol=1e-3)
    assert data["summary"]["model"] == "KFlats"


def test_classes_are_ordered_by_matched_cluster(flats):
    words = np.array(["east", "west", "north"])[np.where(Y < 0, 2, Y)]
    data = describe(flats, X, truth=words, n_stability=0).data["truth"]
    counts = np.array(data["counts"])
    assert counts.sum() == len(X)
    assert (counts.argmax(axis=1) == [0, 1]).all()
    assert data["classes"][2] == "north"
    outliers = describe(flats, X, truth=Y, n_stability=0).data["truth"]
    assert outliers["n_outliers"] == (Y == -1).sum()
    assert outliers["classes"][-1] == "outliers"


def test_wide_rows():
    rows = np.random.RandomState(0).standard_normal((300, 10_000)).astype(np.float32)
    rows[:150, :50] += 3
    model = fitted(KASP(2, n_centroids=20, random_state=0), rows)
    data = describe(model, rows, labels=np.repeat([0, 1], 150), n_stability=0).data
    # Numbers of columns count from 0, as in NumPy.
    telling = {f"column {j}" for j in range(50)}
    assert len(data["scatter"]["columns"]) == 6
    assert set(data["scatter"]["columns"]) <= telling
    assert {each["name"] for each in data["examples"][0]["columns"]} <= telling
    assert {each["name"] for each in data["profiles"][0]["columns"]} <= telling


def test_columns_that_fit_leaves_out_are_left_out_again():
    """A table with names and classes among its columns, as people have them."""
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    frame.insert(0, "name", [f"row {i}" for i in range(len(X))])
    with pytest.warns(UserWarning, match="does not hold numbers"):
        model = FLS(2, random_state=0).fit(frame)
    data = describe(model, frame, n_stability=0).data
    assert data["summary"]["n_columns"] == X.shape[1]
    assert {line["name"] for each in data["profiles"] for line in each["columns"]} <= set(frame.columns[1:])
