"""Pictures of reports to look at: `python tests/show/screenshots.py FOLDER [NAME ...]`.

Makes a report of each data set below, and pictures of it in light, dark, phone and print. Needs Chromium and the Python
package playwright.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from subspaces import FLS
from subspaces.datasets import load_yaleb, make_subspaces
from subspaces.report import Run, describe

# Height of a piece of a long page in pixels.
PIECE = 1600
MODES = {
    "light": {"viewport": {"width": 1100, "height": 900}},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True},
    "print": {"viewport": {"width": 720, "height": 1000}, "color_scheme": "dark"},
}


def one():
    """No structure: one cluster."""
    rows = np.random.RandomState(0).standard_normal((300, 8))
    return FLS("auto", random_state=0).fit(rows), rows, {}


def two():
    """Two clusters of patients, columns of very different scale."""
    found = load_breast_cancer()
    rows = (found.data - found.data.mean(axis=0)) / found.data.std(axis=0)
    given = {"values": found.data, "columns": list(found.feature_names), "truth": found.target_names[found.target]}
    return FLS(2, random_state=0).fit(rows), rows, given


def planes():
    """Two crossing planes with outliers."""
    rows, truth = make_subspaces((2, 2), 6, points_per_subspace=200, outliers=0.05, random_state=0)
    return FLS(2, detect_outliers=0.05, random_state=0).fit(rows), rows, {"truth": truth}


def three():
    """Three cultivars of wine."""
    found = load_wine()
    rows = (found.data - found.data.mean(axis=0)) / found.data.std(axis=0)
    names = [f"wine {i}" for i in range(len(rows))]
    given = {"values": found.data, "columns": list(found.feature_names), "truth": found.target, "row_names": names}
    return FLS(3, random_state=0).fit(rows), rows, given


def ten():
    """Ten clusters of images of digits."""
    rows, truth = load_digits(return_X_y=True)
    return FLS(10, random_state=0).fit(rows), rows, {"truth": truth, "image_shape": (8, 8)}


def faces():
    """Five persons under changing light, as images; needs yaleb_48x42.npz in the folder SUBSPACES_DATA."""
    images, truth = load_yaleb(persons=range(1, 6), n_components=None)
    rows, _ = load_yaleb(persons=range(1, 6))
    return FLS(5, random_state=0).fit(rows), rows, {"truth": truth, "images": images.reshape(-1, 48, 42)}


def many():
    """38 subspaces of dimension 3."""
    rows, truth = make_subspaces((3,) * 38, 30, points_per_subspace=64, outliers=0, random_state=0)
    return FLS(38, random_state=0).fit(rows), rows, {"truth": truth}


def wide():
    """200 columns with long names, four clusters."""
    rng = np.random.RandomState(0)
    truth = np.repeat(np.arange(4), 120)
    rows = rng.standard_normal((len(truth), 200)) * rng.uniform(0.5, 20, 200)
    for k in range(4):
        rows[truth == k, 10 * k : 10 * k + 10] *= 0.2
        rows[truth == k, 10 * k : 10 * k + 6] += 15
    columns = [f"sensor {j:03d} mean temperature of the outer shell" for j in range(200)]
    return FLS(4, random_state=0).fit(rows), rows, {"columns": columns}


PAGES = {each.__name__: each for each in (one, two, planes, three, ten, faces, many, wide)}


def photograph(browser, path, folder):
    """Pictures of the page `path` in every mode, in pieces that can be looked at."""
    from PIL import Image

    for mode, options in MODES.items():
        context = browser.new_context(**options)
        page = context.new_page()
        page.goto(path.as_uri())
        if mode == "print":
            page.emulate_media(media="print", color_scheme="dark")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            page.wait_for_timeout(200)
        whole = folder / f"{path.stem}-{mode}.png"
        page.screenshot(path=whole, full_page=True)
        context.close()
        with Image.open(whole) as image:
            height = PIECE * options.get("device_scale_factor", 1)
            for number, top in enumerate(range(0, image.height, height)):
                box = (0, top, image.width, min(image.height, top + height))
                image.crop(box).save(folder / f"{path.stem}-{mode}-{number}.png")
        whole.unlink()


def photograph_views(browser, path, folder):
    """Pictures of the rows in each view, on a screen and on a phone, with some of them selected."""
    for mode in ("light", "phone"):
        context = browser.new_context(**MODES[mode], reduced_motion="reduce")
        page = context.new_page()
        page.goto(path.as_uri())
        plot, views = page.locator(".scatter svg"), page.locator("select[aria-label=View]")
        page.get_by_role("button", name="Lasso").click()
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        for step, (x, y) in enumerate([(0.1, 0.1), (0.5, 0.1), (0.4, 0.9), (0.1, 0.6)]):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=3)
            if not step:
                page.mouse.down()
        page.mouse.up()
        for i in range(views.locator("option").count()):
            views.select_option(index=i)
            page.locator("#scatter").screenshot(path=folder / f"{path.stem}-view-{mode}-{i}.png")
        context.close()


def main():
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PAGES)}; all by default")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in given.names or PAGES:
            model, rows, options = PAGES[name]()
            run = Run(title=name, command=f"subspaces fit {name}.csv", data=(f"{name}.csv",), seed=0)
            path = folder / f"{name}.html"
            describe(model, rows, run=run, **options).save(path, overwrite=True)
            photograph(browser, path, folder)
            photograph_views(browser, path, folder)
        browser.close()


if __name__ == "__main__":
    main()
