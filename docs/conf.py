"""The manual as HTML, by Sphinx: `make docs`."""

project = "BatchScope"
author = "BatchScope"
extensions = ["myst_parser"]
exclude_patterns = ["conf.py"]
# Links to files of the sources outside of this folder lead somewhere only where the sources are.
suppress_warnings = ["ref.myst", "myst.xref_missing"]
myst_heading_anchors = 3
smartquotes = False  # options begin with two hyphens
html_title = "BatchScope"
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "230px", "fixed_sidebar": True}
html_show_sphinx = False
html_show_copyright = False
