"""Reports of 2, 3, 10 and 38 clusters, with images and with 200 columns, in light, dark, on a phone and in print.

`tests/show/screenshots.py` makes pictures of such reports to look at. Here nothing may be cut off or unreadable.
"""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from subspaces import FLS, KFlats
from subspaces.datasets import make_subspaces
from subspaces.report import describe

sync_api = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]

# Width of A4 paper between the margins of the page's style, in CSS pixels.
PAPER = int((210 - 2 * 14) / 25.4 * 96)
MODES = {
    "light": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "small phone": {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"},
    "print": {"viewport": {"width": PAPER, "height": 900}, "color_scheme": "dark"},
}
LONG = "sensor {:03d}: mean_temperature_of_the_outer/inner shell"

# Text that is wider than its element or lies outside of the page, unless one can scroll to it.
CUT_OFF = """() => {
  const overflow = (node) => getComputedStyle(node).overflowX;
  const scrolls = (node) => node && (/auto|scroll/.test(overflow(node)) || scrolls(node.parentElement));
  const texts = [...document.querySelectorAll("h1, h2, h3, p, li, dt, dd, th, td, button, summary, figcaption, nav a")];
  const shown = texts.filter((node) => node.checkVisibility() && node.textContent.trim() && !scrolls(node));
  const wide = (node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline";
  const box = (node) => node.getBoundingClientRect();
  const outside = (node) => box(node).left < -1 || box(node).right > innerWidth + 1;
  return shown.filter((node) => wide(node) || outside(node)).map((node) => `${node.tagName}: ${node.textContent}`);
}"""
# Cells so narrow that their text has a few letters in each line.
NARROW = """() => [...document.querySelectorAll("th, td")]
  .filter((each) => each.checkVisibility() && each.textContent.length > 6)
  .filter((each) => each.clientWidth < 3.2 * parseFloat(getComputedStyle(each).fontSize))
  .map((each) => each.textContent)"""
# Words of headings that are broken over two lines, and first cells of rows in more than one line.
BROKEN = """() => [...document.querySelectorAll("th.long, #examples td:first-child")]
  .filter((each) => each.checkVisibility())
  .flatMap((each) => [...each.querySelectorAll("span"), each].slice(0, 1)).flatMap((each) => {
    const text = document.createTreeWalker(each, NodeFilter.SHOW_TEXT), found = [];
    for (let node = text.nextNode(); node; node = text.nextNode())
      for (const word of node.data.matchAll(each.tagName === "TD" ? /.+/g : /\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) found.push(word[0]);
      }
    return found;
  })"""
# Pairs of colours of text and of what is behind it, with the text.
COLOURS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    if (!node) return [255, 255, 255];
    const found = numbers(getComputedStyle(node).backgroundColor);
    return found.length === 3 || found[3] > 0.5 ? found.slice(0, 3) : behind(node.parentElement);
  };
  const tags = "h1, h2, h3, p, li, dt, dd, th, td, button, summary, figcaption, nav a, .badge";
  return [...document.querySelectorAll(tags)].filter((node) => node.checkVisibility() && node.textContent.trim())
    .map((node) => [node.textContent, numbers(getComputedStyle(node).color).slice(0, 3), behind(node)]);
}"""


def describe_subspaces(n_clusters, *, n_columns=6, **options):
    """A report on lines through the origin, one for each cluster."""
    rows, truth = make_subspaces((1,) * n_clusters, n_columns, points_per_subspace=12, outliers=0, random_state=0)
    model = KFlats(n_clusters, subspace_dim=1, n_init=1, random_state=0).fit(rows)
    return describe(model, rows, truth=truth, n_stability=0, **options)


def describe_images():
    rows, _ = make_subspaces((1, 1, 1), 6, points_per_subspace=12, outliers=0, random_state=0)
    images = np.random.RandomState(0).randint(256, size=(len(rows), 12, 10)).astype(np.uint8)
    return describe(KFlats(3, subspace_dim=1, n_init=1, random_state=0).fit(rows), rows, images=images, n_stability=0)


REPORTS = {
    "two": lambda: describe_subspaces(2),
    "three": lambda: describe_subspaces(3, columns=["flavanoids", "od280/od315_of_diluted_wines", *"abcd"]),
    "ten": lambda: describe_subspaces(10),
    "many": lambda: describe_subspaces(38, n_columns=12),
    "images": describe_images,
    "wide": lambda: describe_subspaces(4, n_columns=200, columns=[LONG.format(j) for j in range(200)]),
}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module", params=REPORTS)
def report(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    REPORTS[request.param]().save(path)
    return path


@pytest.fixture(params=MODES)
def page(request, browser, report):
    context = browser.new_context(**MODES[request.param], reduced_motion="reduce")
    found = context.new_page()
    found.goto(report.as_uri())
    if request.param == "print":
        found.emulate_media(media="print", color_scheme="dark")
        found.evaluate("dispatchEvent(new Event('beforeprint'))")
        found.wait_for_timeout(200)
    yield found
    context.close()


def luminance(colour):
    values = np.array(colour) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    """Contrast of two colours as in the Web Content Accessibility Guidelines, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_nothing_is_cut_off(page):
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(NARROW) == []
    assert page.evaluate(BROKEN) == []


def test_text_can_be_read(page):
    found = {text: contrast(one, other) for text, one, other in page.evaluate(COLOURS)}
    assert len(found) > 50
    assert {text: value for text, value in found.items() if value < 4.5} == {}


@pytest.mark.parametrize("page", ["print"], indirect=True)
def test_paper_has_room_for_two_clusters_side_by_side(page, report):
    cards = page.locator("#clusters .card")
    first, second = (cards.nth(i).bounding_box() for i in range(2))
    assert first["y"] == second["y"]
    if report.stem != "images":
        assert cards.first.locator("th", has_text="All rows").is_visible()


def test_values_of_a_column_have_decimals_or_none(browser, tmp_path):
    """Columns of halves and of whole numbers: 3.00 beside 2.50, and 3 beside 2."""
    rows, _ = make_subspaces((1, 1), 4, points_per_subspace=30, outliers=0, random_state=0)
    values = np.column_stack([np.round(10 * rows[:, :2]) / 2 + 0.5, np.round(9 * rows[:, 2:])])
    model = KFlats(2, subspace_dim=1, n_init=1, random_state=0).fit(rows)
    describe(model, rows, values=values, columns=["a", "b", "c", "d"], n_stability=0).save(tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    heads = page.locator("#examples details").first.locator("thead th").all_inner_texts()
    for line in page.locator("#examples details").first.locator("tbody tr:not(.mean)").all():
        cells = dict(zip(heads, line.locator("td").all_inner_texts(), strict=True))
        assert all("." in cells[name] or cells[name] == "0" for name in "ab")
        assert not any("." in cells[name] for name in "cd")
    page.close()


@pytest.mark.filterwarnings("ignore:Other landmarks")
def test_the_first_lines_say_whether_columns_were_standardised(browser, tmp_path):
    rows, _ = make_subspaces((1, 1), 4, points_per_subspace=30, outliers=0, random_state=0)
    page = browser.new_page()
    for standardise, words in ((True, "4 columns, standardised"), (False, "4 columns · 2 clusters")):
        model = FLS(2, subspace_dim=1, standardise=standardise, random_state=0).fit(rows)
        describe(model, rows, n_stability=0).save(tmp_path / "page.html", overwrite=True)
        page.goto((tmp_path / "page.html").as_uri())
        assert words in page.locator("#summary").inner_text()
    page.close()


def test_a_blob_is_not_called_a_line(browser, tmp_path):
    """Blobs that are longer in one direction have dimension 1."""
    rows = np.random.RandomState(0).standard_normal((200, 4)) * (3, 1, 1, 1)
    rows[100:, 1] += 20
    model = FLS(2, random_state=0).fit(rows)
    model.verdict_, model.cluster_dims_ = replace(model.verdict_, structure="blobs"), np.array([0, 1])
    describe(model, rows, n_stability=0).save(tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    shapes = page.locator("#clusters table").first.locator("tbody td:nth-child(5)")
    assert shapes.all_inner_texts() == ["blob", "long blob"]
    page.close()


@pytest.mark.parametrize("page", ["phone"], indirect=True)
def test_a_phone_shows_first_what_people_ask_first(page, report):
    """What makes a cluster different, and k-means beside ours, are read without scrolling sideways."""
    if report.stem != "images":
        words = page.locator("#clusters td.text").first.bounding_box()
        # The right edge of a table that scrolls is faded.
        faded = 40 if page.locator("#clusters .scrolled.more").count() else 0
        assert words["x"] + words["width"] <= page.viewport_size["width"] - faded
    compared = page.locator("#kmeans td:nth-child(3)").first.bounding_box()
    assert compared["x"] + compared["width"] <= page.viewport_size["width"]


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_a_long_legend_fades(page, report):
    """A list of clusters that is cut off can be scrolled and looks unfinished; the button below it stays visible."""
    legend = page.locator(".legend ul")
    assert ("more" in (legend.get_attribute("class") or "")) == (report.stem == "many")
    legend.evaluate("each => { each.scrollTop = each.scrollHeight }")
    page.wait_for_timeout(100)
    assert "more" not in (legend.get_attribute("class") or "")
    assert page.locator(".legend .all").bounding_box()["y"] > legend.bounding_box()["y"]
