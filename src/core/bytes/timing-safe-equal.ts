import { timingSafeEqual } from 'node:crypto'

/** Compares two texts in constant time: the time does not reveal where they differ. It may reveal their lengths. */
export function timingSafeEqualText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
