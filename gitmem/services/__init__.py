"""Use cases, one a file. They never call each other; :mod:`gitmem.memory` puts them together."""
