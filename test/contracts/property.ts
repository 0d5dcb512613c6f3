import fc from 'fast-check'
import { sized } from '../support/sized.ts'

/**
 * Checks that a statement holds for many values, and shows the smallest value for which it does not. `npm test` always takes the same
 * values; `npm run test:long` takes others each time, and more.
 */
export function holds<T>(property: fc.IProperty<T> | fc.IAsyncProperty<T>): Promise<void> {
  return fc.assert(property as fc.IAsyncProperty<T>, sized({ seed: 7, numRuns: 150 }, { numRuns: 20_000 }))
}
