"""The report in a browser. The tests need Chromium and the Python package playwright; they download nothing."""

import shutil

import numpy as np
import pytest

from subspaces import FLS, KFlats
from subspaces.datasets import make_subspaces
from subspaces.report import Run, describe

sync_api = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = (
    "<script>window.__hacked=1;alert(1)</script>",
    "</script><script>window.__hacked=1;alert(1)</script>",
    '"><img src=x onerror="window.__hacked=1;alert(1)">',
    "javascript:window.__hacked=1",
    "<svg onload=window.__hacked=1>",
    "{{constructor.constructor('window.__hacked=1')()}}",
)
X, Y = make_subspaces((1, 2, 2), 6, points_per_subspace=40, outliers=0.1, random_state=0)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of each kind, as files."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.RandomState(0)
    # Enough eigenvectors to choose two of them for the picture.
    model = FLS(3, n_components=6, detect_outliers=0.05, random_state=0).fit(X)
    report = describe(model, X, row_names=[f"name {i}" for i in range(len(X))], truth=Y, n_stability=1)
    report.save(folder / "plain.html")
    flats = KFlats(3, n_init=2, random_state=0).fit(X)
    run = Run(
        title=HOSTILE[0],
        command=HOSTILE[1],
        stages=((HOSTILE[2], 1.0),),
        peak_memory=10**9,
        versions={HOSTILE[3]: HOSTILE[4]},
        data=HOSTILE,
        warnings=HOSTILE,
        notes=HOSTILE,
    )
    words = np.array(HOSTILE)
    hostile = describe(
        flats,
        X,
        columns=HOSTILE,
        row_names=words[np.arange(len(X)) % 6],
        truth=words[np.where(Y < 0, 3, Y)],
        run=run,
        n_stability=0,
    )
    hostile.save(folder / "hostile.html")
    images = rng.randint(256, size=(len(X), 12, 10)).astype(np.uint8)
    describe(flats, X, images=images, n_stability=0).save(folder / "images.html")
    noise = rng.standard_normal((100, 5))
    describe(FLS("auto", max_clusters=3, random_state=0).fit(noise), noise, n_stability=0).save(folder / "one.html")
    names = np.array(["=1+1", "@sum(A1)", "-5", "plain"])[np.arange(len(X)) % 4]
    describe(flats, X, row_names=names, n_stability=0).save(folder / "formulas.html")
    return {path.stem: path.as_uri() for path in folder.iterdir()} | {"report": report}


@pytest.fixture
def opened(browser, pages):
    """A function that opens a page. Console messages, errors, dialogs and requests fail the test at the end."""
    contexts, complaints, addresses = [], [], []

    def open_page(name, **options):
        context = browser.new_context(
            **({"viewport": {"width": 1100, "height": 800}, "reduced_motion": "reduce"} | options)
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: addresses.append(request.url))
        page.goto(pages[name])
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert {each for each in addresses if not each.startswith("data:image/png;")} <= set(map(str, pages.values()))


def points(page, cluster):
    return page.locator(f'.points[data-cluster="{cluster}"]')


def test_every_section(opened, pages):
    page = opened("plain")
    titles = page.locator("h2").all_inner_texts()
    assert titles == [
        "Clusters",
        "Picture of the rows",
        "How far to trust it",
        "Beside other methods",
        "Compared with known classes",
        "Typical, borderline and unusual rows",
        "Methods and details",
    ]
    # Methods are at the end, eigenvalues after what people know.
    details = page.locator("#details section > h3").all_inner_texts()
    assert details[-2:] == ["Eigenvalues", "Run"]
    assert len(details) == 8
    assert page.locator("nav a").all_inner_texts() == titles
    badge, sentence = (page.locator(each).text_content() for each in (".badge", ".sentence"))
    assert f"{badge.capitalize()}. {sentence}" == pages["report"].data["verdict"]["text"]  # no word twice
    assert page.locator(".meaning").inner_text().startswith("You can use these clusters")
    assert "A tick supports the clusters" in page.locator("#evidence .read").inner_text()
    assert "It was run on the same rows" in page.locator("#kmeans .read").inner_text()
    assert page.locator("#residuals svg rect").count() == 6
    assert page.evaluate("document.body.innerText.match(/undefined|NaN|\\[object/)") is None


def test_profiles(opened, pages):
    page = opened("plain")
    found = pages["report"].data["profiles"]
    cards = page.locator("#clusters .profile")
    assert cards.count() == len(found) == 3
    for i, profile in enumerate(found):
        names = cards.nth(i).locator("tbody th").all_inner_texts()
        assert names == [line["name"] for line in profile["columns"]]
        assert cards.nth(i).locator("svg.bar").count() == len(names)
        assert page.locator("#clusters td.text").nth(i).inner_text() == profile["words"]
    bar = cards.first.locator("svg.bar").first
    bar.hover()
    assert page.locator("#tip dt").all_inner_texts()[:2] == ["median here", "median of all rows"]
    # Cells do not overlap on a phone.
    page = opened("plain", viewport={"width": 390, "height": 800})
    for line in page.locator("#clusters .profile tbody tr").all():
        boxes = [cell.bounding_box() for cell in line.locator("th, td").all() if cell.is_visible()]
        assert len(boxes) == 4
        widths = line.locator("td").evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")
        assert max(widths) <= 0
    page = opened("images")
    assert page.locator("#clusters .faces figure:first-child img").count() == 3


def test_k_means_is_drawn_beside(opened, pages):
    page = opened("plain")
    assert page.locator("#kmeans .panel figcaption").all_inner_texts() == ["FLS, this report", "k-means"]
    shown = pages["report"].data["kmeans"]
    cells = page.locator("#kmeans td:nth-child(3)").all_inner_texts()
    assert cells[1] == f"{shown['agreement']:.2f}"
    assert len(cells) == 4
    clusters = page.locator("#kmeans .panel").nth(1).locator("path")
    assert clusters.count() == len(set(shown["labels"]))


def test_one_cluster(opened):
    page = opened("one")
    assert page.locator(".sentence").inner_text().startswith("No clusters found")
    assert "no clusters" in page.locator("#summary").inner_text()
    assert page.locator("#clusters, #kmeans, #evidence").count() == 0
    assert page.locator(".scatter svg").is_visible()
    assert "1 well separated cluster gives 1 eigenvalue" in page.locator("#eigenvalues .read").inner_text()
    # Parameters are in words, and dimensions of clusters a list without brackets.
    table = page.locator(".decision", has=page.get_by_role("heading", name="Number of clusters"))
    assert {"number of clusters", "dimensions"} <= set(table.locator("th").all_inner_texts())
    assert "[" not in table.inner_text()


# Nearly the whole picture, without its rounded corners.
WHOLE = (0.015, 0.02, 0.985, 0.98)


def lasso(page, left, top, right, bottom):
    """Draw around a part of the picture, given in shares of its size."""
    plot = page.locator(".scatter svg")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    for step, (x, y) in enumerate(corners):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if not step:
            page.mouse.down()
    page.mouse.up()


def test_lasso_and_download(opened, pages):
    page = opened("plain")
    data = pages["report"].data["scatter"]
    lasso(page, 0.015, 0.02, 0.5, 0.98)
    view = data["views"][0]
    # The picture has a margin of 14 pixels.
    width = page.locator(".scatter svg").bounding_box()["width"]
    across = 14 + (width - 28) * np.array(view["points"][0]) / view["grid"]
    expected = np.flatnonzero(across < 0.5 * width)
    assert 0 < len(expected) < len(across)
    shown = page.locator(".selection strong").inner_text()
    assert shown == f"{len(expected)} rows selected"
    assert page.locator(".selection tbody tr").count() == min(12, len(expected))
    with page.expect_download() as found:
        page.get_by_role("button", name="Download as CSV").click()
    assert found.value.suggested_filename == "selected-rows.csv"
    head, *lines = found.value.path().read_text().splitlines()
    assert head.split(",")[:5] == ["row", "name", "label", "confidence", "outlier_score"]
    assert head.split(",")[5:] == data["columns"]
    assert [int(line.split(",")[0]) for line in lines] == [data["rows"][i] for i in expected]
    assert [int(line.split(",")[2]) for line in lines] == [data["labels"][i] for i in expected]
    np.testing.assert_allclose(
        [[float(cell) for cell in line.split(",")[5:]] for line in lines], [data["values"][i] for i in expected]
    )
    page.get_by_role("button", name="Clear").click()
    assert page.locator(".selection").is_hidden()


def test_rows_are_selected_by_click_and_by_key(opened):
    page = opened("plain")
    plot = page.locator(".scatter svg")
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".selection strong").inner_text() == "1 row selected"
    name = page.locator("#tip strong").inner_text()
    assert page.locator(".selection tbody td").nth(1).inner_text() == name
    ring = page.locator(".ring").bounding_box()
    page.mouse.click(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    assert page.locator(".selection").is_hidden()
    page.mouse.click(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    assert page.locator(".selection tbody td").nth(1).inner_text() == name
    assert page.locator(".chosen").get_attribute("d")


def test_lasso_selects_when_the_picture_is_enlarged(opened):
    page = opened("plain")
    page.get_by_role("button", name="Zoom in").click()
    lasso(page, *WHOLE)
    assert page.locator(".selection").is_hidden()  # a drag moves the picture
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Lasso").click()
    lasso(page, *WHOLE)
    assert page.locator(".selection").is_visible()
    assert page.get_by_role("button", name="Lasso").get_attribute("aria-pressed") == "true"


def test_hidden_clusters_are_not_selected(opened, pages):
    page = opened("plain")
    page.get_by_role("button", name="Show cluster 2 only").click()
    lasso(page, *WHOLE)
    labels = pages["report"].data["scatter"]["labels"]
    assert page.locator(".selection strong").inner_text() == f"{labels.count(2)} rows selected"


def test_names_cannot_be_formulas_in_a_spreadsheet(opened):
    page = opened("formulas")
    lasso(page, *WHOLE)
    with page.expect_download() as found:
        page.get_by_role("button", name="Download as CSV").click()
    names = {line.split(",", 2)[1] for line in found.value.path().read_text().splitlines()[1:]}
    assert names == {"'=1+1", "'@sum(A1)", "-5", "plain"}


def test_wide_tables_have_a_hint_on_narrow_screens(opened):
    page = opened("plain", viewport={"width": 390, "height": 800})
    hint = page.locator("#numbers .hint")
    assert hint.is_visible()
    page.locator("#numbers .wide").evaluate("each => { each.scrollLeft = each.scrollWidth }")
    hint.wait_for(state="hidden")
    page.set_viewport_size({"width": 1800, "height": 800})
    assert opened("plain", viewport={"width": 1800, "height": 800}).locator("#clusters .hint").is_hidden()


def test_tooltip_of_a_point(opened, pages):
    page = opened("plain")
    data = pages["report"].data["scatter"]
    plot = page.locator(".scatter svg")
    plot.scroll_into_view_if_needed()
    box, view = plot.bounding_box(), data["views"][0]
    where = np.array(view["points"][:2]).T / view["grid"]
    # Use the row farthest from all others.
    apart = np.linalg.norm(where[:, None] - where, axis=2) + 9 * np.eye(len(where))
    i = int(apart.min(axis=1).argmax())
    place = where[i] * [box["width"] - 28, box["height"] - 28] + 14
    page.mouse.move(box["x"] + place[0], box["y"] + box["height"] - place[1])
    shown = page.locator("#tip").inner_text().splitlines()
    assert shown[0] == f"name {data['rows'][i]}"
    shown = page.locator("#tip dd").all_inner_texts()
    label = data["labels"][i]
    assert shown[:2] == [f"row {data['rows'][i]}", "none (outlier)" if label < 0 else str(label)]
    assert float(shown[2]) == pytest.approx(data["confidence"][i], abs=0.006)
    assert float(shown[3]) == pytest.approx(data["scores"][i], abs=0.006)
    assert float(shown[4].replace("−", "-")) == pytest.approx(X[data["rows"][i], 0], rel=0.01, abs=1e-3)
    page.mouse.move(2, 2)
    assert page.locator("#tip").is_hidden()


def test_keyboard(opened):
    page = opened("plain")
    plot = page.locator(".scatter svg")
    plot.focus()
    before = points(page, 0).get_attribute("d")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text().startswith("name ")
    page.keyboard.press("+")
    assert points(page, 0).get_attribute("d") != before
    page.keyboard.press("0")
    assert points(page, 0).get_attribute("d") == before


def test_legend(opened):
    page = opened("plain")
    entries = page.locator(".legend .entry")
    assert entries.count() == 4  # three clusters and the outliers
    entries.nth(1).click()
    assert points(page, 1).is_hidden()
    assert entries.nth(1).get_attribute("aria-pressed") == "false"
    entries.nth(1).press("Enter")
    assert points(page, 1).is_visible()
    page.get_by_role("button", name="Show cluster 2 only").click()
    assert [points(page, k).is_visible() for k in (0, 1, 2, -1)] == [False, False, True, False]
    page.get_by_role("button", name="Show all").click()
    assert all(points(page, k).is_visible() for k in (0, 1, 2, -1))


def test_coordinates_and_views(opened):
    page = opened("plain")
    before = points(page, 0).get_attribute("d")
    page.locator("select[aria-label=Horizontal]").select_option(label="coordinate 3")
    middle = points(page, 0).get_attribute("d")
    drawn = {before, middle}
    for name in ("Principal components", "Distances to two flats", "Between clusters"):
        page.locator("select[aria-label=View]").select_option(label=name)
        drawn.add(points(page, 0).get_attribute("d"))
    assert len(drawn) == 5
    assert page.locator(".anchor.number").all_text_contents() == ["0", "1", "2"]
    assert page.locator("select[aria-label=Horizontal]").count() == 0


def test_zoom_and_drag(opened):
    page = opened("plain")
    plot = page.locator(".scatter svg")
    plot.scroll_into_view_if_needed()
    page.get_by_role("button", name="Zoom in").click()
    before, box = points(page, 0).get_attribute("d"), plot.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 150, steps=3)
    page.mouse.up()
    assert points(page, 0).get_attribute("d") != before
    page.get_by_role("button", name="Reset").click()
    assert points(page, 0).get_attribute("d") != before


def test_sortable_tables(opened):
    page = opened("plain")
    sizes = page.locator("#clusters .scrolled td:nth-child(2)")
    heading = page.locator("#clusters th").nth(1)
    heading.locator("button").click()
    down = [int(each) for each in sizes.all_inner_texts()]
    assert down == sorted(down, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    heading.locator("button").press("Enter")
    assert [int(each) for each in sizes.all_inner_texts()] == sorted(down)


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dark_mode(opened):
    light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 27)"
    page = opened("plain", color_scheme="light")
    assert background(page) == light
    page.locator("#theme").click()
    assert background(page) == dark
    page = opened("plain", color_scheme="dark")
    assert background(page) == dark
    assert page.locator("#theme").inner_text() == "Light"
    page.locator("#theme").click()
    assert background(page) == light


def test_print_style(opened):
    page = opened("plain", color_scheme="dark")
    page.locator("details").first.evaluate("each => { each.open = false }")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert background(page) == "rgb(255, 255, 255)"
    assert not any(page.locator(each).first.is_visible() for each in ("nav", "#theme", ".controls", ".legend .only"))
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".scatter svg").is_visible()
    assert len(page.pdf(format="A4")) > 10_000


def test_hostile_names_are_not_executed(opened):
    page = opened("hostile")
    assert page.evaluate("window.__hacked") is None
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.locator("img, iframe, object, body > svg").count() == 0
    assert page.locator("#run dd li").all_inner_texts()[:6] == list(HOSTILE)
    assert page.locator("a:not([href^='#'])").count() == 0
    page.locator(".scatter svg").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        assert page.locator("#tip strong").inner_text() in HOSTILE
    for each in page.locator("svg rect").all()[:20]:
        each.dispatch_event("pointermove", {"clientX": 5, "clientY": 5})
    assert page.evaluate("window.__hacked") is None


@pytest.mark.parametrize("name", ["plain", "hostile", "images"])
def test_narrow_screens_do_not_scroll_sideways(opened, name):
    page = opened(name, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 900, "height": 740})
    # The page forbids `eval`, which `wait_for_function` needs.
    for _ in range(100):
        if page.evaluate("document.querySelector('.scatter svg').clientWidth") > 400:
            break
        page.wait_for_timeout(50)
    else:
        pytest.fail("the picture did not grow with the window")


def test_rows_that_are_images(opened):
    page = opened("images")
    images = page.locator("#examples img")
    assert images.count() == 3 * 3 * 8
    assert page.evaluate("[...document.images].every(each => each.complete && each.naturalWidth === 10)")
    images.nth(1).hover()
    assert page.locator("#tip").inner_text().startswith("row ")
    page.locator(".scatter svg").focus()
    page.keyboard.press("ArrowRight")
    canvas = page.locator("#tip canvas")
    pixels = canvas.evaluate("each => [...each.getContext('2d').getImageData(0, 0, each.width, each.height).data]")
    assert np.ptp(np.reshape(pixels, (-1, 4))[:, 0]) > 100
