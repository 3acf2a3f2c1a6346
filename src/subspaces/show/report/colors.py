"""The colours of the page in light and dark mode."""

from __future__ import annotations

from subspaces.show.look import COLORS, GREY

# Replacements of dark colours in dark mode.
ON_DARK = {
    "#000000": "#F4F4F4",
    "#332288": "#A296FF",
    "#882255": "#D4548C",
    "#0072B2": "#3AA0E8",
    "#009E73": "#12B886",
    "#D55E00": "#F0742B",
    GREY: "#9A9FA6",
}
# (light, dark)
SURFACE = {
    "paper": ("#FFFFFF", "#14171B"),
    "raised": ("#F6F7F9", "#1C2026"),
    "line": ("#DFE3E8", "#2E343C"),
    "strong": ("#B4BBC4", "#4B535E"),
    "ink": ("#1B1F24", "#E7EAEE"),
    "quiet": ("#59626D", "#A2ABB6"),
    "accent": ("#0068A5", "#5CB3F0"),
    "good": ("#0B7A57", "#3CC79A"),
    "good-back": ("#E7F5F0", "#14302A"),
    "fair": ("#8F5A00", "#E8B04A"),
    "fair-back": ("#FDF4E0", "#33280F"),
    "poor": ("#B03A12", "#FF8E66"),
    "poor-back": ("#FCEDE7", "#3A1E15"),
    "gap": ("#F7D999", "#5E4A1C"),
}


def palette_css() -> str:
    """CSS variables of all colours: light by default, dark if the system or the reader chooses it, light in print."""
    pairs = dict(SURFACE)
    for i, color in enumerate(COLORS):
        pairs[f"cluster-{i}"] = (color, ON_DARK.get(color, color))
    pairs["outlier"] = (GREY, ON_DARK[GREY])
    light, dark = ("".join(f"--{name}:{pair[i]};" for name, pair in pairs.items()) for i in (0, 1))
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    )
