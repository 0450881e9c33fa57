"""The projection: what the accepted commits of main say, in one SQLite file.

Disposable: it is keyed by commit and blob ids and can be rebuilt from git at any time. It holds
each accepted record and quote parsed, for readers; the records of the newest accepted commit;
the fold over the accepted chain (who approved what); and the ranker's postings. What another
program changes in it is noticed, and then it is made anew. Stdlib only, because every read of a
fresh process passes through here.
"""

from __future__ import annotations

from gitmem.cache.chain import CommitRow
from gitmem.cache.database import Damaged, Unusable
from gitmem.cache.projection import Projection, RecordRow

__all__ = ["CommitRow", "Damaged", "Projection", "RecordRow", "Unusable"]
