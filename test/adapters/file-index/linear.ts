import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { derivativeKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { createIndexModel } from '../../contracts/file-index/file-index-model.ts'
import type { Random } from '../../contracts/random.ts'

type Model = ReturnType<typeof createIndexModel>

/** A step that can be done on an index and on the model of one. */
export interface Step {
  name: string
  on(index: FileIndex): Promise<unknown>
  in(model: Model): unknown
}

/** A step and what the index has answered. */
export interface Done {
  step: Step
  answer: unknown
}

const NOW = 1_800_000_000_000

/** Steps at random on a few originals of one client, each with two derivatives. */
export function randomSteps(
  refs: readonly FileRef[],
  { count, random }: { count: number; random: Random },
): Step[] {
  return Array.from({ length: count }, (_, number) => {
    const ref = random.oneOf(refs)
    const key = derivativeKey(ref.key, random.oneOf(['w=1', 'w=2']))
    const until = NOW + random.below(3) - 1
    const record = (one: FileRef) => ({
      key: one.key,
      originalName: `number ${number}`,
      mediaType: 'image/png',
      size: number,
      sha256: '00',
      storedAt: NOW,
    })
    const all = refs.map(record)
    const derived = { key, mediaType: 'image/webp', size: number }
    const removal = (cause: 'delete' | 'purge' | 'abandon' | 'sweep') => ({
      cause,
      leaseUntil: until,
      now: NOW,
    })
    const sorted = (keys: readonly string[] | undefined) => keys && [...keys].sort()
    const cause = random.oneOf(['delete', 'purge', 'abandon', 'sweep'] as const)
    return random.oneOf<Step>([
      {
        name: `beginUpload ${ref.key} ${until}`,
        on: (index) =>
          index.beginUpload(ref, until).then(
            () => 'ok',
            () => 'throws',
          ),
        in: (model) => model.beginUpload(ref, until),
      },
      {
        name: 'finishUpload of all',
        on: (index) => index.finishUpload(ref.clientId, all),
        in: (model) => model.finishUpload(ref.clientId, all),
      },
      {
        name: `adopt ${ref.key}`,
        on: (index) => index.adopt(ref.clientId, record(ref)),
        in: (model) => model.adopt(ref.clientId, record(ref)),
      },
      {
        name: `amend ${ref.key}`,
        on: (index) => index.amend(ref.clientId, record(ref), { ...record(ref), probe: 'new' }),
        in: (model) => model.amend(ref.clientId, record(ref), { ...record(ref), probe: 'new' }),
      },
      {
        name: `trash ${ref.key} ${until}`,
        on: async (index) => sorted(await index.trash(ref, { at: NOW, until })),
        in: (model) => sorted(model.trash(ref, { at: NOW, until })),
      },
      {
        name: `restore ${ref.key}`,
        on: (index) => index.restore(ref, NOW),
        in: (model) => model.restore(ref, NOW),
      },
      {
        name: `beginDerivative ${key} ${until}`,
        on: (index) => index.beginDerivative(ref, key, until, { atMost: 1 }),
        in: (model) => model.beginDerivative(ref, key, until, { atMost: 1 }),
      },
      {
        name: `finishDerivative ${key}`,
        on: (index) => index.finishDerivative(ref, derived),
        in: (model) => model.finishDerivative(ref, derived),
      },
      {
        name: `adoptDerivative ${key}`,
        on: (index) => index.adoptDerivative(ref, derived),
        in: (model) => model.adoptDerivative(ref, derived),
      },
      {
        name: `amendDerivative ${key}`,
        on: (index) => index.amendDerivative(ref, derived, { ...derived, crc32: 9 }),
        in: (model) => model.amendDerivative(ref, derived, { ...derived, crc32: 9 }),
      },
      {
        name: `dropDerivative ${key} ${until}`,
        on: (index) => index.dropDerivative(ref, key, until),
        in: (model) => model.dropDerivative(ref, key, until),
      },
      {
        name: `beginRemoval ${ref.key} ${cause} ${until}`,
        on: async (index) => sorted(await index.beginRemoval(ref, removal(cause))),
        in: (model) => sorted(model.beginRemoval(ref, removal(cause))),
      },
      {
        name: `finishRemoval ${ref.key}`,
        on: (index) => index.finishRemoval(ref, NOW),
        in: (model) => model.finishRemoval(ref, NOW),
      },
      {
        name: `find ${key}`,
        on: (index) => index.find(ref, key),
        in: (model) => found(model, ref, key),
      },
    ])
  })
}

/** What the model answers to a find. */
function found(model: Model, ref: FileRef, key: string) {
  const { original, derivatives } = model.row(ref)
  const derivative = [...derivatives].find(([name]) => name === key)?.[1]
  return { ...(original ? { original } : {}), ...(derivative ? { derivative } : {}) }
}

/**
 * Whether the steps of two connections, each in the order in which it has sent them, can be put in one order in which
 * the model gives every answer that the index gave.
 *
 * @returns how many of their steps, at most, can be explained like this
 */
export function explained(refs: readonly FileRef[], one: readonly Done[], other: readonly Done[]): number {
  const seen = new Set<string>()
  let most = 0
  const goOn = (order: readonly Done[], i: number, j: number): boolean => {
    const model = createIndexModel()
    const answers = order.map(({ step }) => same(step.in(model)))
    if (order.length > 0 && answers.at(-1) !== same(order.at(-1)?.answer)) return false
    const place = `${i} ${j} ${same(refs.map((ref) => rowOf(model, ref)))}`
    if (seen.has(place)) return false
    seen.add(place)
    most = Math.max(most, order.length)
    const [left, right] = [one[i], other[j]]
    if (!left && !right) return true
    if (left && goOn([...order, left], i + 1, j)) return true
    return right !== undefined && goOn([...order, right], i, j + 1)
  }
  goOn([], 0, 0)
  return most
}

function rowOf(model: Model, ref: FileRef): unknown {
  const { original, derivatives } = model.row(ref)
  return [original, [...derivatives].sort(([a], [b]) => (a < b ? -1 : 1))]
}

function same(value: unknown): string {
  return JSON.stringify(value ?? null)
}
