import base64
import copy
import hashlib
import json
import re
import struct
import warnings
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
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
from subspaces.flats.flats import Flats
from subspaces.report import Report, Run, describe
from subspaces.show.report._clusters import _telling_dims, cluster_facts, fitted_flats
from subspaces.show.report._examples import example_rows, telling
from subspaces.show.report._pictures import pictures_of, png, shrunk
from subspaces.show.report._plain import name_text, number, to_json
from subspaces.show.report._points import LEAST_POINTS, drawn_rows
from subspaces.show.report._report import SCRIPTS
from subspaces.show.report._subject import make_subject

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


def subject_of(model, rows, **given):
    names = ("labels", "confidence", "values", "columns", "row_names", "row_numbers", "truth", "image_shape", "images")
    return make_subject(model, rows, **(dict.fromkeys(names) | given))


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
def test_every_estimator_has_a_page(name):
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


def test_a_good_clustering_is_trusted_and_a_coin_toss_is_not():
    good = describe(fitted(KFlats(2, n_init=2, random_state=0)), X, truth=Y, n_stability=2).data["verdict"]
    assert good["level"] == "good"
    assert "2 fits with other seeds agree" in good["text"]
    noise = np.random.RandomState(0).standard_normal((300, 8))
    bad = describe(fitted(FLS(4, random_state=0), noise), noise, n_stability=2).data["verdict"]
    assert bad["level"] == "poor"
    assert bad["text"].startswith("Do not rely on these 4 clusters: ")


def test_what_comes_out_again_is_not_called_good_where_classes_differ(flats):
    other = np.random.RandomState(1).randint(2, size=len(X))
    verdict = describe(flats, X, truth=other, n_stability=1).data["verdict"]
    assert verdict["level"] == "fair"
    assert "in only" in verdict["text"]


def test_without_refits_there_is_no_verdict(flats):
    data = describe(flats, X, n_stability=0).data
    assert data["stability"] is None
    assert data["verdict"]["level"] == "neutral"
    assert data["clusters"][0]["kept"] is None
    with pytest.raises(ValueError, match="n_stability=-1"):
        describe(flats, X, n_stability=-1)


def test_refits_end_when_they_take_too_long(flats, monkeypatch):
    monkeypatch.setattr("subspaces.show.report._stability.MOST_SECONDS", 0.0)
    found = describe(flats, X, n_stability=3).data["stability"]
    assert (len(found["fits"]), found["asked"]) == (1, 3)


def test_a_refit_that_fails_is_told():
    few = X[:120]
    model = fitted(SSSC(3, n_in_sample=100, random_state=0), few)
    model.n_in_sample = 2
    fit = describe(model, few, n_stability=1).data["stability"]["fits"][0]
    assert "n_in_sample=2" in fit["failed"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_leaves_its_place(flats, text):
    truth = np.where(flats.labels_ == 0, text, "b")
    run = Run(title=text, command=text, stages=((text, 1.0),), versions={text: text}, data=(text,), warnings=(text,))
    report = describe(
        flats, X, columns=[text] * 6, row_names=[text] * len(X), truth=truth, run=run, n_stability=0, max_points=20
    )
    html = report.to_html()
    html.encode()  # lone surrogates could not be written
    page = Page(html)
    assert [tag for tag, _ in page.tags if tag in ("script", "img", "iframe", "object", "link")] == ["script"] * 2
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    block = next(body for kind, body in page.texts if kind == "script" and body.startswith("{"))
    assert not re.search(r"[<>&\u2028\u2029]", block)
    assert json.loads(block) == report.data
    assert report.data["scatter"]["columns"][0] == name_text(text)


def test_the_page_loads_nothing_and_runs_its_own_script_alone(flats):
    page = Page(describe(flats, X, n_stability=0).to_html())
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        body = [text for found, text in page.texts if found == kind and not text.startswith("{")]
        digest = base64.b64encode(hashlib.sha256("".join(body).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [attrs for _, attrs in page.tags if "src" in attrs or "style" in attrs]


def test_scripts_never_write_markup():
    folder = files("subspaces.report") / "page"
    assert {each.name for each in folder.iterdir() if each.name.endswith(".js")} == set(SCRIPTS)
    for name in SCRIPTS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttp|https?://(?!www\.w3\.org/2000/svg)",
            (folder / name).read_text("utf-8"),
        ), name


def test_pages_are_written_as_a_whole_and_not_over_others(flats, tmp_path):
    report = describe(flats, X, n_stability=0)
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == report.to_html()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        report.save(tmp_path / "page.html")
    Report(report.data | {"title": "other"}).save(tmp_path / "page.html", overwrite=True)
    assert "<h1>other</h1>" in (tmp_path / "page.html").read_text("utf-8")


def test_numbers_that_are_not_finite_stay_out():
    assert [number(value) for value in (np.nan, np.inf, None, np.float32(0.1), np.int64(3))] == [None] * 3 + [0.1, 3]
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json([float("nan")])


def test_distances_are_those_to_the_flats(flats):
    facts = cluster_facts(subject_of(flats, X))
    table = flats.transform(X)
    own = table[np.arange(len(X)), flats.labels_]
    np.testing.assert_allclose(facts.own, own)
    np.testing.assert_allclose(facts.other, table[np.arange(len(X)), 1 - flats.labels_])
    np.testing.assert_array_equal(facts.nearest, 1 - flats.labels_)
    assert not facts.misplaced.any()
    np.testing.assert_allclose(facts.between[0], table[flats.labels_ == 0].mean(axis=0))
    assert facts.angles[0, 1] == facts.angles[1, 0] > 30


def test_flats_of_labels_have_the_dimensions_of_the_subspaces():
    rows, labels = make_subspaces((1, 3), 8, points_per_subspace=200, outliers=0.0, random_state=0)
    flats, dims = fitted_flats(rows, labels, 2)
    assert dims.tolist() == [1, 3]
    # Wide rows are projected and come back.
    wide = rows @ np.linalg.qr(np.random.RandomState(0).standard_normal((300, 8)))[0].T
    assert fitted_flats(wide, labels, 2)[1].tolist() == [1, 3]
    assert fitted_flats(wide, labels, 2)[0].bases.shape[1] == 300
    assert flats.bases.shape[1] == 8


def test_flats_that_pass_near_every_row_are_told_by_their_leading_directions():
    # Two Gaussians with directions of their own, each of them in all of ten columns: 91 % of the spread in two.
    rng = np.random.RandomState(0)
    scales = np.array([9.0, 9.0] + [1.0] * 8)
    rows = np.concatenate([rng.standard_normal((400, 10)) * each for each in (scales, scales[::-1])])
    labels = np.repeat([0, 1], 400).astype(np.int32)
    flats = Flats(np.zeros((2, 10)), np.stack([np.eye(10)[:, :8], np.eye(10)[:, ::-1][:, :8]]))
    subject = replace(subject_of(fitted(KFlats(2, random_state=0)), X), x=rows, labels=labels.astype(np.int64))
    assert _telling_dims(subject, flats, np.array([8, 8])).tolist() == [2, 2]
    assert _telling_dims(subject, flats, np.array([1, 6])).tolist() == [1, 2]
    # Narrow flats stay as they are.
    assert _telling_dims(subject, flats, np.array([5, 5])).tolist() == [5, 5]


def test_rows_without_the_names_of_the_fitted_columns():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    page = describe(KFlats(2, random_state=0).fit(frame), X[:100], n_stability=1)
    assert page.data["summary"]["n_rows"] == 100


def test_too_little_is_not_called_good():
    rows = np.repeat([[0.0, 0, 0], [5, 5, 5]], [40, 3], axis=0) + 0.01 * np.random.RandomState(0).normal(size=(43, 3))
    told = describe(KFlats(2, subspace_dim=1, random_state=0).fit(rows), rows, labels=np.repeat([0, 1], [40, 3])).data
    assert told["verdict"]["level"] != "good"
    assert "fewer than 5 rows" in told["verdict"]["text"]
    alone = describe(KFlats(1, subspace_dim=1, random_state=0).fit(rows), rows).data
    assert alone["verdict"]["level"] != "good"
    assert "one cluster only" in alone["verdict"]["text"]


def test_rows_keep_their_numbers():
    numbers = 1000 + 3 * np.arange(len(X))
    data = describe(fitted(KFlats(2, random_state=0)), X, row_numbers=numbers, n_stability=0, max_points=50).data
    assert set(data["scatter"]["rows"]) <= set(numbers.tolist())
    assert {row["row"] for each in data["examples"] for row in each["typical"]} <= set(numbers.tolist())
    with pytest.raises(ValueError, match=r"row_numbers has shape \(3,\)"):
        describe(fitted(KFlats(2, random_state=0)), X, row_numbers=[1, 2, 3])


def test_a_model_without_its_labels_is_told_by_those_given():
    model = copy.copy(fitted(KFlats(2, random_state=0)))
    labels = model.labels_
    del model.labels_
    for given in (labels, None):
        assert describe(model, X, labels=given, n_stability=0).data["summary"]["n_clusters"] == 2


def test_seeds_end_where_seeds_end():
    data = describe(fitted(KFlats(2, random_state=0)), X, n_stability=2, random_state=2**32 - 1).data
    assert [fit["seed"] for fit in data["stability"]["fits"]] == [1, 2]


def test_outliers_are_in_no_cluster():
    model = fitted(FLS(2, detect_outliers=True, random_state=0))
    assert (model.labels_ == -1).any()
    data = describe(model, X, n_stability=0).data
    assert data["summary"]["n_outliers"] == (model.labels_ == -1).sum()
    assert data["examples"][-1]["cluster"] == -1
    assert {row["own"] for row in data["examples"][-1]["outlying"]} == {None}
    assert sum(each["size"] for each in data["clusters"]) + data["summary"]["n_outliers"] == len(X)


def test_one_cluster_and_clusters_without_rows(flats):
    data = describe(fitted(KFlats(1, random_state=0)), X, n_stability=1).data
    assert data["clusters"][0]["nearest"] is None
    assert data["angles"] is None
    labels = np.where(np.arange(len(X)) == 0, 4, 2)
    data = describe(flats, X, labels=labels, n_stability=0).data
    assert [each["size"] for each in data["clusters"]] == [0, 0, len(X) - 1, 0, 1]
    assert data["warnings"][0].startswith("Clusters 0, 1, 3 are without rows")
    assert data["warnings"][1].startswith("Cluster 4 is with fewer than 5 rows")
    data = describe(flats, X, labels=np.full(len(X), -1), n_stability=1).data
    assert data["warnings"][-1].startswith("100.0")


def test_some_rows_with_their_labels_are_enough():
    model = fitted(FLS(2, random_state=0))
    some = np.arange(0, len(X), 2)
    data = describe(model, X[some], labels=model.labels_[some], n_stability=0).data
    # What the model knows of each row is about other rows.
    assert data["scatter"]["confidence"] is None
    given = describe(model, X[some], confidence=np.full(len(some), 0.5), n_stability=0).data
    assert given["scatter"]["labels"] == data["scatter"]["labels"]
    assert set(given["scatter"]["confidence"]) == {0.5}


def test_refused_arguments(flats):
    for given, words in [
        ({"labels": [0, 1]}, "labels have shape"),
        ({"labels": np.full(len(X), -2)}, "from 0, and -1 for outliers"),
        ({"columns": ["a"]}, "1 names for 6 columns"),
        ({"row_names": ["a"]}, "row_names has shape"),
        ({"image_shape": (2, 2)}, "has 4 pixels, and rows have 6"),
        ({"images": np.zeros((3, 2, 2))}, "3 images for"),
        ({"max_points": 0}, "max_points=0"),
    ]:
        with pytest.raises(ValueError, match=words):
            describe(flats, X, n_stability=0, **given)
    with pytest.raises(ValueError, match="pass rows in memory"):
        describe(flats, X[:0], n_stability=0)


def test_tables_and_pipelines_keep_their_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = make_pipeline(StandardScaler(), KFlats(2, n_init=2, random_state=0)).fit(frame)
    data = describe(model, frame, n_stability=1).data
    assert data["scatter"]["columns"] == list("abcdef")
    np.testing.assert_allclose(data["scatter"]["values"][0], X[0], rtol=1e-3)
    assert data["summary"]["model"] == "KFlats"


def test_every_cluster_is_drawn():
    labels = np.repeat([0, 1, -1], [5000, 30, 3])
    index = drawn_rows(labels, 200, np.random.RandomState(0))
    assert len(index) == 200
    assert (np.diff(index) > 0).all()
    kept = labels[index]
    assert (kept == -1).sum() == 3
    assert LEAST_POINTS <= (kept == 1).sum() <= 30
    assert len(drawn_rows(labels, 2, np.random.RandomState(0))) == 2


def test_points_are_where_the_model_puts_them():
    rows, _ = make_blobs(300, centers=6, n_features=4, random_state=0)
    model = fitted(KASP(6, random_state=0), rows)
    views = {view["name"]: view for view in describe(model, rows, n_stability=0).data["scatter"]["views"]}
    embedding = model.transform(rows)[:, 0]
    points = np.array(views["Spectral embedding"]["points"][0]) / views["Spectral embedding"]["grid"]
    np.testing.assert_allclose(points, (embedding - embedding.min()) / np.ptp(embedding), atol=1e-4)
    ring = views["Between the clusters"]
    places = np.array(ring["points"]).T / ring["grid"]
    anchors = {k: np.array([x, y]) for x, y, k in ring["anchors"]}
    nearest = [min(anchors, key=lambda k: np.linalg.norm(anchors[k] - place)) for place in places]
    assert np.mean(nearest == model.labels_) > 0.95


def test_example_rows_are_of_their_kind():
    model = fitted(FLS(2, random_state=0))
    subject = subject_of(model, X)
    facts = cluster_facts(subject)
    kinds = example_rows(subject, facts, 0)
    rows = np.concatenate(list(kinds.values()))
    assert len(set(rows.tolist())) == len(rows) == 9
    members = subject.members(0)
    assert facts.scores[kinds["outlying"]].min() >= np.percentile(facts.scores[members], 97)
    assert facts.scores[kinds["typical"]].max() <= np.median(facts.scores[members])
    left = np.setdiff1d(members, rows)
    assert subject.confidence[kinds["borderline"]].max() <= subject.confidence[left].min() + 1e-2


def test_telling_columns_are_those_that_differ(flats):
    rows = np.random.RandomState(0).standard_normal((len(X), 6))
    rows[flats.labels_ == 0, 4] += 9
    rows[flats.labels_ == 1, 2] *= 0.01
    rows[:, 5] = 1.0
    _, divergence = telling(subject_of(flats, X, values=rows))
    assert divergence[0].argmax() == 4
    assert divergence[1].argmax() == 2
    assert (divergence[:, 5] == -1).all()


def test_landmarks_are_counted_once():
    data = describe(fitted(FLS(2, n_landmarks=80, random_state=0)), X, n_stability=0).data["landmarks"]
    assert data["count"] <= 80
    assert sum(data["per_cluster"]) <= data["count"]
    assert data["rows_per_landmark"][-1] * data["count"] >= len(X)
    assert 1 <= data["effective"][0] <= data["effective"][-1] <= data["nearest"]


def test_known_classes_stand_below_the_clusters_they_match(flats):
    words = np.array(["east", "west", "north"])[np.where(Y < 0, 2, Y)]
    data = describe(flats, X, truth=words, n_stability=0).data["truth"]
    counts = np.array(data["counts"])
    assert counts.sum() == len(X)
    assert (counts.argmax(axis=1) == [0, 1]).all()
    assert data["classes"][2] == "north"
    outliers = describe(flats, X, truth=Y, n_stability=0).data["truth"]
    assert outliers["n_outliers"] == (Y == -1).sum()
    assert outliers["classes"][-1] == "outliers"


def decoded(file):
    """Pixels of a PNG file whose lines are not filtered."""
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    place, body, header = 8, b"", None
    while place < len(file):
        (size,) = struct.unpack(">I", file[place : place + 4])
        kind, content = file[place + 4 : place + 8], file[place + 8 : place + 8 + size]
        (check,) = struct.unpack(">I", file[place + 8 + size : place + 12 + size])
        assert check == zlib.crc32(kind + content)
        header = struct.unpack(">IIBBBBB", content) if kind == b"IHDR" else header
        body += content if kind == b"IDAT" else b""
        place += 12 + size
    width, height, bits, color = header[:4]
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    if bits == 4:
        return np.stack([lines[:, 1:] >> 4, lines[:, 1:] & 15], axis=2).reshape(height, width)
    return lines[:, 1:].reshape((height, width, 3) if color == 2 else (height, width))


def test_png_files_hold_their_pixels():
    rng = np.random.RandomState(0)
    for shape in ((5, 7), (4, 3, 3)):
        pixels = rng.randint(256, size=shape).astype(np.uint8)
        np.testing.assert_array_equal(decoded(png(pixels)), pixels)
    grey = np.arange(0, 256, 17, dtype=np.uint8).reshape(2, 8)
    np.testing.assert_array_equal(decoded(png(grey, bits=4)), np.arange(16).reshape(2, 8))


def test_images_are_shrunk_and_scaled():
    image = np.arange(64.0).reshape(8, 8)
    np.testing.assert_allclose(shrunk(image, 2), [[13.5, 17.5], [45.5, 49.5]])
    np.testing.assert_allclose(shrunk(image, 3).shape, (3, 3))
    assert shrunk(np.ones((1, 500)), 10).shape == (1, 10)
    pictures = pictures_of(np.random.RandomState(0).rand(20, 100 * 90) * 4 - 2, None, (100, 90))
    tile = pictures.thumbnail(0, 64)
    assert tile.shape == (64, 58)
    assert 100 < tile.mean() < 155


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 3), (9, 7, 1), (9, 7, 4)])
def test_rows_that_are_images_are_shown_as_such(flats, shape):
    images = np.random.RandomState(0).randint(256, size=(len(X), *shape)).astype(np.uint8)
    data = describe(flats, X, images=images, n_stability=0).data
    sheet = data["scatter"]["images"]
    assert (sheet["width"], sheet["height"], sheet["count"]) == (7, 9, len(X))
    first = data["examples"][0]["typical"][0]
    pixels = decoded(base64.b64decode(first["image"].removeprefix("data:image/png;base64,")))
    expected = images[first["row"]]
    if len(shape) == 3:
        expected = expected[..., 0] if shape[2] == 1 else expected[..., :3]
    np.testing.assert_array_equal(pixels, expected)
    flat = describe(flats, X, images=images.reshape(len(X), -1), image_shape=shape, n_stability=0).data
    assert flat["examples"] == data["examples"]


def test_large_images_and_many_clusters_stay_small():
    rng = np.random.RandomState(0)
    rows, labels = make_blobs(4500, centers=50, n_features=5, random_state=0)
    model = fitted(KASP(50, random_state=0), rows)
    images = rng.randint(256, size=(len(rows), 40, 40, 3)).astype(np.uint8)
    html = describe(model, rows, truth=labels, images=images, n_stability=0).to_html()
    assert len(html.encode()) < 5_000_000
    values = describe(model, rows, truth=labels, row_names=["n" * 40] * len(rows), n_stability=0).to_html()
    assert len(values.encode()) < 2_000_000


def test_wide_rows_take_no_time_to_speak_of():
    rows = np.random.RandomState(0).standard_normal((300, 10_000)).astype(np.float32)
    rows[:150, :50] += 3
    model = fitted(KASP(2, n_centroids=20, random_state=0), rows)
    data = describe(model, rows, labels=np.repeat([0, 1], 150), n_stability=0).data
    assert len(data["scatter"]["columns"]) == 6
    assert {each["name"] for each in data["examples"][0]["columns"]} <= {f"column {j + 1}" for j in range(50)}
