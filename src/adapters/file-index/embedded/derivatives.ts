import { isDeepStrictEqual } from 'node:util'
import type { FileRef } from '../../../core/files/file-ref.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { openIndexTable } from './table.ts'
import { NEVER_USED } from './uses.ts'

// Entries of derivatives need not survive a power cut: the bucket still has the stored ones, and the others are rendered again.
export const REMADE = { durable: false }
// For the steps of deletes and evictions: without them a full disk would stay full.
export const FREES_ROOM = { freesRoom: true }

type IndexTable = Awaited<ReturnType<typeof openIndexTable>>

/** Runs `work` while no other step of the same original runs. */
type Alone = <T>(ref: FileRef, work: () => Promise<T>) => Promise<T>

type DerivativeSteps = Pick<
  FileIndex,
  | 'beginDerivative'
  | 'finishDerivative'
  | 'adoptDerivative'
  | 'amendDerivative'
  | 'dropDerivative'
  | 'derivedBytes'
  | 'leastUsed'
  | 'noteUse'
  | 'beginEviction'
  | 'countDerivatives'
>

/** The derivative steps of the embedded index. `aloneWithSums` is for steps that change the sums of a client. */
export function derivativeSteps(
  table: IndexTable,
  { alone, aloneWithSums }: { alone: Alone; aloneWithSums: Alone },
): DerivativeSteps {
  return {
    beginDerivative: (ref, derivative, deadline, options) =>
      aloneWithSums(ref, async () => {
        const [original, known] = await table.find(ref, derivative)
        if (original?.state !== 'stored') return 'refused'
        if (options && !known && !(await table.hasFewer(ref, options))) return 'full'
        const uncount = await table.uses.change(ref, [{ key: derivative }])
        const begin = table.setDerivative(ref, derivative, { state: 'pending', deadline })
        await table.write([begin, uncount], REMADE)
        return 'begun'
      }),

    finishDerivative: (ref, record, use = NEVER_USED) =>
      aloneWithSums(ref, async () => {
        if ((await table.original(ref))?.state !== 'stored') return false
        const count = await table.uses.change(ref, [{ key: record.key, record, use }])
        await table.write([table.setDerivative(ref, record.key, { state: 'stored', record }), count], REMADE)
        return true
      }),

    adoptDerivative: (ref, record, states = ['stored']) =>
      aloneWithSums(ref, async () => {
        const state = (await table.original(ref))?.state
        if (!states.some((one) => one === state)) return undefined
        const known = await table.derivative(ref, record.key)
        if (known) return known
        const count = await table.uses.change(ref, [{ key: record.key, record, use: NEVER_USED }])
        await table.write([table.setDerivative(ref, record.key, { state: 'stored', record }), count], REMADE)
        return { state: 'stored', record }
      }),

    amendDerivative: (ref, record, amended) =>
      alone(ref, async () => {
        const [original, known] = await table.find(ref, record.key)
        if (original?.state !== 'stored' || known?.state !== 'stored') return false
        if (!isDeepStrictEqual(known.record, record)) return false
        await table.write(
          [table.setDerivative(ref, record.key, { state: 'stored', record: amended })],
          REMADE,
        )
        return true
      }),

    dropDerivative: (ref, derivative, deadline) =>
      alone(ref, async () => {
        const entry = await table.derivative(ref, derivative)
        if (entry?.state !== 'pending' || entry.deadline > deadline) return
        const drop = [table.setDerivative(ref, derivative, undefined)]
        if ((await table.original(ref))?.state === 'gone') {
          const others = await table.derivatives(ref)
          if (others.every(({ key }) => key === derivative)) drop.push(table.setOriginal(ref, undefined))
        }
        await table.write(drop, FREES_ROOM)
      }),

    derivedBytes: (ref) => table.uses.bytes(ref),
    leastUsed: (of, limit) => table.uses.leastUsed(of, limit),
    noteUse: (ref, derivative, use) =>
      aloneWithSums(ref, async () => {
        const entry = await table.derivative(ref, derivative)
        if (entry?.state !== 'stored') return
        const { record } = entry
        const known = await table.uses.of(ref, derivative)
        const later = { at: Math.max(use.at, known.at), isHeld: use.isHeld || known.isHeld }
        await table.write([await table.uses.change(ref, [{ key: derivative, record, use: later }])], REMADE)
      }),
    beginEviction: (ref, derivative, deadline) =>
      aloneWithSums(ref, async () => {
        const [original, known] = await table.find(ref, derivative)
        const isListed = original?.state === 'stored' || original?.state === 'trashed'
        if (!isListed || known?.state !== 'stored') return false
        const uncount = await table.uses.change(ref, [{ key: derivative }])
        const begin = table.setDerivative(ref, derivative, { state: 'pending', deadline })
        await table.write([begin, uncount], { ...REMADE, ...FREES_ROOM })
        return true
      }),
    countDerivatives: (ref) =>
      aloneWithSums(ref, async () => {
        const stored = (await table.derivatives(ref)).flatMap(({ key, entry }) =>
          entry.state === 'stored' ? [{ key, record: entry.record }] : [],
        )
        await table.write([await table.uses.countNew(ref, stored)], REMADE)
      }),
  }
}
