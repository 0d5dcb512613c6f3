/** A name and its value. */
export interface Entry {
  id: number
  name: string
  value: string
}

let count = 0
/** An entry of its own, so that React recognises it while its name changes. */
export function entryOf(name = '', value = ''): Entry {
  count += 1
  return { id: count, name, value }
}
