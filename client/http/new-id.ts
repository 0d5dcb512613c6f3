/** A name that no other page or process has. `crypto.randomUUID` exists only in pages with HTTPS. */
export function newId(): string {
  return [Date.now(), Math.random(), Math.random()]
    .map((part) => part.toString(36).replace('0.', ''))
    .join('')
}
