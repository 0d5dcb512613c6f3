/** Yields the items of page after page, as they are needed. */
export async function* itemsOf<Item>(
  request: (cursor: string | undefined) => Promise<{ items: Item[]; cursor: string | null }>,
): AsyncGenerator<Item, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await request(cursor)
    yield* page.items
    if (page.cursor === null) return
    cursor = page.cursor
  }
}
