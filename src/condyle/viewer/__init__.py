"""Pages for the browser, pictures and movies of systems and their motions.

layer.py      input -> states over time                  scene.py    states -> numbers to draw
encode.py     numbers -> text of a page                  page.py     the one HTML file; client/ draws it
live_view.py  an interactive page, and its server        real_time.py  runs that keep pace with the clock
drawing.py    a scene by matplotlib                      pictures.py files of pictures and movies
"""

from condyle.viewer.live_view import LiveView, live
from condyle.viewer.marks import Arrows
from condyle.viewer.page import Page
from condyle.viewer.pictures import movie, picture
from condyle.viewer.shown import show

__all__ = ["Arrows", "LiveView", "Page", "live", "movie", "picture", "show"]
