"""Pages for the browser, pictures and movies of systems and their motions.

layer.py      what is given -> states over time          scene.py    states -> what is drawn, as numbers
encode.py     numbers -> text of a page                  page.py     the one HTML file; client/ draws it
live.py       a page that answers, and its server        real_time.py  runs beside the clock
drawing.py    a scene by matplotlib                      pictures.py files of pictures and movies
"""

from condyle.viewer.live_view import LiveView, live
from condyle.viewer.marks import Arrows
from condyle.viewer.page import Page
from condyle.viewer.pictures import movie, picture
from condyle.viewer.shown import show

__all__ = ["Arrows", "LiveView", "Page", "live", "movie", "picture", "show"]
