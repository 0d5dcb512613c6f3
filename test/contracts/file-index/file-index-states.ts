import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import { partitionHashOfKey } from '../../../src/core/files/partition.ts'
import type {
  DerivativeRecord,
  FileIndex,
  OriginalEntry,
  OriginalRecord,
} from '../../../src/core/ports/file-index.ts'
import type { RemovalCause } from '../../../src/core/ports/index/steps.ts'

/** The instant at which the tests play: no adapter reads a clock of its own. */
export const NOW = 1_800_000_000_000
export const AHEAD = NOW + 1
/** An instant is over when it has come. */
export const OVER = NOW
/** A deadline for drops whose deadline does not matter. */
export const FOREVER = Number.MAX_SAFE_INTEGER

/** Every state an original can be in, and how it gets there; a tombstone stands for a derivative `d`. */
export const STATES = {
  unknown: async () => {},
  'pending, lease ahead': (index, ref) => index.beginUpload(ref, AHEAD),
  'pending, lease over': (index, ref) => index.beginUpload(ref, OVER),
  stored: (index, ref) => adopted(index, ref),
  'trashed, time ahead': (index, ref) =>
    index.adopt(ref.clientId, record(ref.key, 'adopted'), { at: NOW - 5, until: AHEAD }),
  'trashed, time over': async (index, ref) => {
    await adopted(index, ref)
    await index.trash(ref, { at: NOW - 5, until: OVER })
  },
  'going, lease ahead': async (index, ref) => {
    await adopted(index, ref)
    await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
  },
  'going, lease over': async (index, ref) => {
    await adopted(index, ref)
    await index.beginRemoval(ref, { cause: 'delete', leaseUntil: OVER, now: NOW })
  },
  'gone, deadline ahead': (index, ref) => gone(index, ref, AHEAD),
  'gone, deadline over': (index, ref) => gone(index, ref, OVER),
} as const satisfies Record<string, (index: FileIndex, ref: FileRef) => Promise<unknown>>

export type State = keyof typeof STATES

/** Each step, and what is to be seen of its answer. */
export const STEPS = {
  beginUpload: async (index, ref) => {
    const outcome = index.beginUpload(ref, AHEAD + 7)
    return outcome.then(
      () => 'ok',
      () => 'throws',
    )
  },
  renewUpload: async (index, ref) => {
    await index.renewUpload([ref], AHEAD + 7)
    return 'ok'
  },
  finishUpload: async (index, ref) =>
    String(await index.finishUpload(ref.clientId, [record(ref.key, 'new')])),
  adopt: async (index, ref) => (await index.adopt(ref.clientId, record(ref.key, 'new'))).state,
  beginDerivative: (index, ref) => index.beginDerivative(ref, d(ref), AHEAD + 7),
  amend: async (index, ref) => {
    const { original } = await index.find(ref)
    const known = original?.state === 'stored' ? original.record : record(ref.key, 'adopted')
    return String(await index.amend(ref.clientId, known, { ...known, probe: 'new' }))
  },
  trash: async (index, ref) => {
    const taken = await index.trash(ref, { at: NOW, until: AHEAD + 7 })
    return taken ? `takes ${taken.length > 0 ? 'd' : 'nothing'}` : 'refused'
  },
  restore: async (index, ref) => String(await index.restore(ref, NOW)),
  finishDerivative: async (index, ref) => String(await index.finishDerivative(ref, derived(d(ref)))),
  adoptDerivative: async (index, ref) =>
    (await index.adoptDerivative(ref, derived(d(ref))))?.state ?? 'refused',
  dropDerivative: async (index, ref) => {
    await index.dropDerivative(ref, d(ref), FOREVER)
    return 'ok'
  },
  'beginRemoval delete': (index, ref) => beginRemoval(index, ref, 'delete'),
  'beginRemoval purge': (index, ref) => beginRemoval(index, ref, 'purge'),
  'beginRemoval abandon': (index, ref) => beginRemoval(index, ref, 'abandon'),
  'beginRemoval sweep': (index, ref) => beginRemoval(index, ref, 'sweep'),
  finishRemoval: async (index, ref) => String(await index.finishRemoval(ref, NOW)),
} as const satisfies Record<string, (index: FileIndex, ref: FileRef) => Promise<string>>

export type Step = keyof typeof STEPS

/**
 * What each step answers in each state and, when that changes it, the state after: `answer → original [derivative]`.
 * The number is the lease or deadline: `+1` is {@link AHEAD}, `+0` {@link OVER}, `+7` the one that the step has brought.
 */
export const TRANSITIONS: Record<State, Record<Step, string>> = {
  unknown: {
    beginUpload: 'ok → pending+7',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'stored → stored',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'refused',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'refused',
    finishRemoval: 'false',
  },
  'pending, lease ahead': {
    beginUpload: 'throws',
    renewUpload: 'ok → pending+7',
    finishUpload: 'true → stored',
    adopt: 'pending',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'refused',
    'beginRemoval abandon': 'takes nothing → going+7',
    'beginRemoval sweep': 'refused',
    finishRemoval: 'false',
  },
  'pending, lease over': {
    beginUpload: 'throws',
    renewUpload: 'ok → pending+7',
    finishUpload: 'true → stored',
    adopt: 'pending',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'refused',
    'beginRemoval abandon': 'takes nothing → going+7',
    'beginRemoval sweep': 'takes nothing → going+7',
    finishRemoval: 'false',
  },
  stored: {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'true',
    adopt: 'stored',
    amend: 'true',
    trash: 'takes nothing → trashed+7',
    restore: 'false',
    beginDerivative: 'begun → stored [pending+7]',
    finishDerivative: 'true → stored [stored]',
    adoptDerivative: 'stored → stored [stored]',
    dropDerivative: 'ok',
    'beginRemoval delete': 'takes nothing → going+7',
    'beginRemoval purge': 'takes nothing → going+7',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'refused',
    finishRemoval: 'false',
  },
  'trashed, time ahead': {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'trashed',
    amend: 'false',
    trash: 'refused',
    restore: 'true → stored',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'takes nothing → going+7',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'refused',
    finishRemoval: 'false',
  },
  'trashed, time over': {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'trashed',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'takes nothing → going+7',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'takes nothing → going+7',
    finishRemoval: 'false',
  },
  'going, lease ahead': {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'going',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'takes nothing → going+7',
    'beginRemoval purge': 'takes nothing → going+7',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'refused',
    finishRemoval: 'true → unknown',
  },
  'going, lease over': {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'going',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok',
    'beginRemoval delete': 'takes nothing → going+7',
    'beginRemoval purge': 'takes nothing → going+7',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'takes nothing → going+7',
    finishRemoval: 'true → unknown',
  },
  'gone, deadline ahead': {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'gone',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok → unknown',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'refused',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'refused',
    finishRemoval: 'false',
  },
  'gone, deadline over': {
    beginUpload: 'throws',
    renewUpload: 'ok',
    finishUpload: 'false',
    adopt: 'gone',
    amend: 'false',
    trash: 'refused',
    restore: 'false',
    beginDerivative: 'refused',
    finishDerivative: 'false',
    adoptDerivative: 'refused',
    dropDerivative: 'ok → unknown',
    'beginRemoval delete': 'refused',
    'beginRemoval purge': 'refused',
    'beginRemoval abandon': 'refused',
    'beginRemoval sweep': 'takes d → going+7 [pending+0]',
    finishRemoval: 'false',
  },
}

let refs = 0

export function newRef(clientId = `client-${process.pid}-${Date.now().toString(36)}-${++refs}`): FileRef {
  refs += 1
  // The alphabet of keys has no 0.
  const id = String(refs).replaceAll('0', 'x').padStart(22, 'A')
  return { clientId, key: storedKey(`a/image/png/${id}.png`) }
}

/** Originals of one client that can be stored in one step: their ids have the same hash. */
export function newRefs(clientId: string, count: number): FileRef[] {
  const first = newRef(clientId)
  const refs = [first]
  while (refs.length < count) {
    const ref = newRef(clientId)
    if (partitionHashOfKey(ref.key) === partitionHashOfKey(first.key)) refs.push(ref)
  }
  return refs
}

export function d({ key }: FileRef): ObjectKey {
  return derivativeKey(key, 'd')
}

export function record(key: ObjectKey, originalName: string): OriginalRecord {
  return { key, originalName, mediaType: 'image/png', size: 1, sha256: '00', storedAt: NOW }
}

export function derived(key: ObjectKey): DerivativeRecord {
  return { key, mediaType: 'image/webp', size: 7 }
}

export async function adopted(index: FileIndex, ref: FileRef): Promise<OriginalEntry> {
  return index.adopt(ref.clientId, record(ref.key, 'adopted'))
}

/** Deleted while a transform was at work. */
export async function gone(index: FileIndex, ref: FileRef, deadline: number): Promise<void> {
  const before = deadline - 10
  await adopted(index, ref)
  await index.beginDerivative(ref, d(ref), deadline)
  await index.beginRemoval(ref, { cause: 'delete', leaseUntil: deadline, now: before })
  await index.finishRemoval(ref, before)
}

export async function beginRemoval(index: FileIndex, ref: FileRef, cause: RemovalCause): Promise<string> {
  const taken = await index.beginRemoval(ref, { cause, leaseUntil: AHEAD + 7, now: NOW })
  if (!taken) return 'refused'
  expect(taken.every((key) => key === d(ref))).to.equal(true)
  return `takes ${taken.length > 0 ? 'd' : 'nothing'}`
}

/** An original and its derivative `d` as text; `+n`: its lease or deadline is n ms ahead. */
export async function shown(index: FileIndex, ref: FileRef): Promise<string> {
  const { original, derivative } = await index.find(ref, d(ref))
  const after = (instant: number) => `+${instant > AHEAD ? instant - AHEAD : instant - NOW}`
  const instant = (entry: OriginalEntry) =>
    entry.state === 'trashed' ? entry.trash.until : 'leaseUntil' in entry ? entry.leaseUntil : undefined
  const until = original && instant(original)
  const first = original ? `${original.state}${until === undefined ? '' : after(until)}` : 'unknown'
  if (!derivative) return first
  return `${first} [${derivative.state}${'deadline' in derivative ? after(derivative.deadline) : ''}]`
}
