// Servers have no such functions, and no types of pages.
const page = globalThis as Partial<
  Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & { navigator: { onLine?: boolean } }
>

/** Whether the browser knows that it has no network. */
export function isOffline(): boolean {
  return page.navigator?.onLine === false
}

/** Calls a function when the browser is connected again. @returns a function that ends it */
export function whenOnline(listener: () => void): () => void {
  page.addEventListener?.('online', listener)
  return () => page.removeEventListener?.('online', listener)
}
