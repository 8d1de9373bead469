"""Lists that are read page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Generic, Iterator, List, Optional, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list."""

    items: List[Item]
    """May have fewer items than the limit, or none, although another page follows."""
    next_cursor: Optional[str]
    """Pass it to `page` to get the next page. None on the last page."""
    total: Optional[Dict[str, Any]]
    """The numbers of the whole list, if the search requested them."""


class Paged(Generic[Item]):
    """A list that is read during iteration. Each page has its own deadline. Every iteration starts from the first page."""

    def __init__(self, load: Callable[[Optional[str]], Page[Item]]) -> None:
        self._load = load

    def page(self, cursor: Optional[str] = None) -> Page[Item]:
        """Returns the first page, or the one that follows the page with this `next_cursor`."""
        return self._load(cursor)

    def __iter__(self) -> Iterator[Item]:
        page = self.page()
        yield from page.items
        while page.next_cursor is not None:
            page = self.page(page.next_cursor)
            yield from page.items


class AsyncPaged(Generic[Item]):
    """The same as Paged, for asyncio."""

    def __init__(self, load: Callable[[Optional[str]], Awaitable[Page[Item]]]) -> None:
        self._load = load

    async def page(self, cursor: Optional[str] = None) -> Page[Item]:
        """See `Paged.page`."""
        return await self._load(cursor)

    async def __aiter__(self) -> AsyncIterator[Item]:
        page = await self.page()
        for item in page.items:
            yield item
        while page.next_cursor is not None:
            page = await self.page(page.next_cursor)
            for item in page.items:
                yield item
