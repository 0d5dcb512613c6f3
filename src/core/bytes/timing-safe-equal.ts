import { timingSafeEqual } from 'node:crypto'

/** Whether two texts are the same, found out in a time that tells nothing of where they differ; of their lengths it may. */
export function timingSafeEqualText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
