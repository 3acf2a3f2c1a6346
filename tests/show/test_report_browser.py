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
    model = FLS(3, detect_outliers=0.05, random_state=0).fit(X)
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
    return {path.stem: path.as_uri() for path in folder.iterdir()} | {"report": report}


@pytest.fixture
def opened(browser, pages):
    """A function that opens a page. Console messages, errors, dialogs and requests fail the test at the end."""
    contexts, complaints, addresses = [], [], []

    def open_page(name, **options):
        context = browser.new_context(**({"viewport": {"width": 1100, "height": 800}} | options))
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
    assert titles[:5] == ["Evidence", "Eigenvalues", "Rows", "Clusters", "Angles between clusters"]
    assert len(titles) == 12
    assert page.locator(".sentence").inner_text() == pages["report"].data["verdict"]["text"]
    assert page.locator("#residuals svg rect").count() == 6
    assert page.evaluate("document.body.innerText.match(/undefined|NaN|\\[object/)") is None


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
    assert float(shown[3].replace("−", "-")) == pytest.approx(X[data["rows"][i], 0], rel=0.01, abs=1e-3)
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
    page.locator("select[aria-label=View]").select_option(label="Between clusters")
    assert len({before, middle, points(page, 0).get_attribute("d")}) == 3
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
    sizes = page.locator("#clusters tbody td:nth-child(2)")
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
    page.wait_for_function("document.querySelector('.scatter svg').clientWidth > 400")


def test_rows_that_are_images(opened):
    page = opened("images")
    images = page.locator("#examples img")
    assert images.count() == 3 * (1 + 3 * 8)
    assert page.evaluate("[...document.images].every(each => each.complete && each.naturalWidth === 10)")
    images.nth(1).hover()
    assert page.locator("#tip").inner_text().startswith("row ")
    page.locator(".scatter svg").focus()
    page.keyboard.press("ArrowRight")
    canvas = page.locator("#tip canvas")
    pixels = canvas.evaluate("each => [...each.getContext('2d').getImageData(0, 0, each.width, each.height).data]")
    assert np.ptp(np.reshape(pixels, (-1, 4))[:, 0]) > 100
