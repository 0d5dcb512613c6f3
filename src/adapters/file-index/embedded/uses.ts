import type { FileRef } from '../../../core/files/file-ref.ts'
import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'
import type { DerivativeUses, Use, UsedDerivative } from '../../../core/ports/derivative-uses.ts'
import type { DerivativeRecord } from '../../../core/ports/file-index.ts'
import type { ResilientLevel, Row } from '../../level/resilient-level.ts'
import { sortable } from '../positions.ts'
import { row, under } from '../rows.ts'

/** For derivatives of an older version, and those found in the bucket. They are evicted first. */
export const NEVER_USED: Use = { at: 0, isHeld: false }

/** A change of a derivative's count. Without `use` it is no longer counted. */
type Change = { key: ObjectKey } | { key: ObjectKey; record: DerivativeRecord; use: Use }

interface Counted {
  bytes: number
  use: Use
}

/**
 * The rows of stored derivatives by their last use: `k client original derivative` with its bytes and use, `w client
 * order original derivative` in the order of eviction, and the sums `b client` and `b client original`. A derivative is
 * counted while its row `k` exists. A caller of `change` must prevent all other changes of the client's rows.
 */
export function usesTable(level: ResilientLevel) {
  const countedRow = ({ clientId, key }: FileRef, derivative: string) => row('k', clientId, key, derivative)
  const orderRow = ({ clientId, key }: FileRef, derivative: string, { at, isHeld }: Use) =>
    row('w', clientId, `${isHeld ? 1 : 0}${sortable(at)}`, key, derivative)
  const sumRows = ({ clientId, key }: FileRef) => [row('b', clientId), row('b', clientId, key)]

  async function countedOf(ref: FileRef, keys: readonly ObjectKey[]) {
    return (await level.get(keys.map((key) => countedRow(ref, key)))) as Array<Counted | undefined>
  }

  async function change(ref: FileRef, changes: readonly Change[]): Promise<Row[]> {
    const known = await countedOf(
      ref,
      changes.map(({ key }) => key),
    )
    const rows: Row[] = []
    let more = 0
    for (const [i, one] of changes.entries()) {
      const before = known[i]
      if (before) {
        rows.push({ type: 'del', key: orderRow(ref, one.key, before.use) })
        rows.push({ type: 'del', key: countedRow(ref, one.key) })
        more -= before.bytes
      }
      if (!('use' in one)) continue
      const { size, partsBytes = 0 } = one.record
      const counted: Counted = { bytes: size + partsBytes, use: one.use }
      rows.push({ type: 'put', key: countedRow(ref, one.key), value: counted })
      rows.push({ type: 'put', key: orderRow(ref, one.key, one.use), value: 0 })
      more += counted.bytes
    }
    if (more === 0) return rows
    const names = sumRows(ref)
    const sums = await level.get(names)
    for (const [i, key] of names.entries()) {
      const value = Number(sums[i] ?? 0) + more
      rows.push(value > 0 ? { type: 'put', key, value } : { type: 'del', key })
    }
    return rows
  }

  async function leastUsed(
    { clientId, key }: Parameters<DerivativeUses['leastUsed']>[0],
    limit: number,
  ): Promise<UsedDerivative[]> {
    if (key !== undefined) return ofOriginal({ clientId, key }, limit)
    const names = await level.names({ ...under(row('w', clientId)), limit })
    const refs = names.map((name) => {
      const [, , , original = '', derivative = ''] = name.split('\0')
      return { original: storedKey(original), key: storedKey(derivative) }
    })
    const counted = (await level.get(
      refs.map(({ original, key: derivative }) => countedRow({ clientId, key: original }, derivative)),
    )) as Array<Counted | undefined>
    // A derivative without a count was evicted since the names were read.
    return refs.flatMap((one, i) => (counted[i] ? [{ ...one, ...counted[i] }] : []))
  }

  async function ofOriginal(ref: FileRef, limit: number): Promise<UsedDerivative[]> {
    const rows = await level.rows(under(countedRow(ref, '').slice(0, -1)))
    const all = rows.map(([name, counted]) => ({
      original: ref.key,
      key: storedKey(name.slice(name.lastIndexOf('\0') + 1)),
      ...(counted as Counted),
    }))
    const order = ({ key, use }: UsedDerivative) => orderRow(ref, key, use)
    return all.sort((one, other) => (order(one) < order(other) ? -1 : 1)).slice(0, limit)
  }

  return {
    change,
    leastUsed,
    /** Counts the derivatives that are not counted yet. */
    async countNew(
      ref: FileRef,
      stored: ReadonlyArray<{ key: ObjectKey; record: DerivativeRecord }>,
    ): Promise<Row[]> {
      const known = await countedOf(
        ref,
        stored.map(({ key }) => key),
      )
      return change(
        ref,
        stored.flatMap((one, i) => (known[i] ? [] : [{ ...one, use: NEVER_USED }])),
      )
    },
    async of(ref: FileRef, derivative: ObjectKey): Promise<Use> {
      return (await countedOf(ref, [derivative]))[0]?.use ?? NEVER_USED
    },
    async bytes(ref: FileRef): Promise<{ client: number; original: number }> {
      const [client, original] = await level.get(sumRows(ref))
      return { client: Number(client ?? 0), original: Number(original ?? 0) }
    },
  }
}
