"""Laws of mechanics of a tree of bodies, each written once over symbols."""
