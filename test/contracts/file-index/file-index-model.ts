import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import { partitionHash } from '../../../src/core/files/partition.ts'
import type { Use, UsedDerivative } from '../../../src/core/ports/derivative-uses.ts'
import type {
  DerivativeEntry,
  DerivativeRecord,
  FileIndex,
  OriginalEntry,
  OriginalRecord,
  Trash,
} from '../../../src/core/ports/file-index.ts'
import type { PageRequest } from '../../../src/core/ports/index/page-request.ts'
import type { DerivativeStart, RemovalCause } from '../../../src/core/ports/index/steps.ts'
import { sized } from '../../support/sized.ts'
import type { Random } from '../random.ts'
import { compareSearch } from './file-search.ts'
import { compareFolders } from './folder-counts.ts'

interface Row {
  original?: OriginalEntry
  derivatives: Map<ObjectKey, DerivativeEntry>
  /** Of those that are stored. */
  uses: Map<ObjectKey, Use>
}

/** The index as a map in memory: every step at once, nothing durable. */
export function createIndexModel() {
  const rows = new Map<string, Row>()
  /** Entries of an earlier process, whose lease or deadline counts as over. Every step makes new entries. */
  const inherited = new Set<OriginalEntry | DerivativeEntry>()
  const nameOf = ({ clientId, key }: FileRef) => `${clientId} ${key}`
  const rowOf = (ref: FileRef): Row => {
    const row = rows.get(nameOf(ref)) ?? { derivatives: new Map(), uses: new Map() }
    rows.set(nameOf(ref), row)
    return row
  }
  const isOver = (entry: OriginalEntry | DerivativeEntry, now: number) => {
    // The retention of trashed files continues when a process ends.
    if ('trash' in entry) return entry.trash.until <= now
    if ('leaseUntil' in entry) return inherited.has(entry) || entry.leaseUntil <= now
    return 'deadline' in entry && (inherited.has(entry) || entry.deadline <= now)
  }
  const busy = ({ derivatives }: Row, now: number) =>
    [...derivatives.values()].some((entry) => entry.state === 'pending' && !isOver(entry, now))
  const mayRemove = (row: Row, cause: RemovalCause, now: number) => {
    const state = row.original?.state
    if (cause === 'delete') return state === 'stored' || state === 'going'
    if (cause === 'purge') return state === 'stored' || state === 'trashed' || state === 'going'
    if (cause === 'abandon') return state === 'pending'
    if (state === 'gone') return !busy(row, now)
    return row.original !== undefined && isOver(row.original, now)
  }

  return {
    row: rowOf,
    /** As if the process had died and another had come. */
    reopen() {
      for (const { original, derivatives } of rows.values())
        for (const entry of [original, ...derivatives.values()]) if (entry) inherited.add(entry)
    },
    beginUpload(ref: FileRef, leaseUntil: number): string {
      const row = rowOf(ref)
      if (row.original) return 'throws'
      row.original = { state: 'pending', leaseUntil }
      return 'ok'
    },
    renewUpload(refs: readonly FileRef[], leaseUntil: number): void {
      for (const row of refs.map(rowOf))
        if (row.original?.state === 'pending') row.original = { state: 'pending', leaseUntil }
    },
    finishUpload(clientId: string, records: readonly OriginalRecord[]): boolean {
      const all = records.map((record) => ({ record, row: rowOf({ clientId, key: record.key }) }))
      if (all.some(({ row }) => row.original?.state !== 'pending' && row.original?.state !== 'stored'))
        return false
      for (const { record, row } of all)
        if (row.original?.state === 'pending') row.original = { state: 'stored', record }
      return true
    },
    adopt(clientId: string, record: OriginalRecord, trash?: Trash): OriginalEntry {
      const row = rowOf({ clientId, key: record.key })
      row.original ??= trash ? { state: 'trashed', record, trash } : { state: 'stored', record }
      return row.original
    },
    amend(clientId: string, record: OriginalRecord, amended: OriginalRecord): boolean {
      const row = rowOf({ clientId, key: record.key })
      if (row.original?.state !== 'stored' || !isDeepStrictEqual(row.original.record, record)) return false
      row.original = { state: 'stored', record: amended }
      return true
    },
    trash(ref: FileRef, trash: Trash): ObjectKey[] | undefined {
      const row = rowOf(ref)
      if (row.original?.state !== 'stored') return undefined
      row.original = { state: 'trashed', record: row.original.record, trash }
      return [...row.derivatives.keys()]
    },
    restore(ref: FileRef, now: number): boolean {
      const row = rowOf(ref)
      if (row.original?.state !== 'trashed' || row.original.trash.until <= now) return false
      row.original = { state: 'stored', record: row.original.record }
      return true
    },
    /** What a page would have, were there no end to it. */
    listed(clientId: string, { state, by, direction }: Pick<PageRequest, 'state' | 'by' | 'direction'>) {
      const own = [...rows].flatMap(([name, { original }]) =>
        name.startsWith(`${clientId} `) && original?.state === state ? [original] : [],
      )
      const position = ({ record }: (typeof own)[number]) => [valueIn(record, by), record.key] as const
      own.sort((one, other) => {
        const [[a, keyA], [b, keyB]] = [position(one), position(other)]
        return a < b || (a === b && keyA < keyB) ? -1 : 1
      })
      if (direction === 'down') own.reverse()
      return own.map((entry) =>
        entry.state === 'trashed' ? { record: entry.record, trash: entry.trash } : { record: entry.record },
      )
    },
    beginDerivative(
      ref: FileRef,
      key: ObjectKey,
      deadline: number,
      { atMost = Number.POSITIVE_INFINITY } = {},
    ): DerivativeStart {
      const row = rowOf(ref)
      if (row.original?.state !== 'stored') return 'refused'
      if (!row.derivatives.has(key) && row.derivatives.size >= atMost) return 'full'
      row.derivatives.set(key, { state: 'pending', deadline })
      row.uses.delete(key)
      return 'begun'
    },
    finishDerivative(ref: FileRef, record: DerivativeRecord, use: Use = { at: 0, isHeld: false }): boolean {
      const row = rowOf(ref)
      if (row.original?.state !== 'stored') return false
      row.derivatives.set(record.key, { state: 'stored', record })
      row.uses.set(record.key, use)
      return true
    },
    noteUse(ref: FileRef, key: ObjectKey, { at, isHeld }: Use): void {
      const row = rowOf(ref)
      const known = row.uses.get(key)
      if (known) row.uses.set(key, { at: Math.max(known.at, at), isHeld: known.isHeld || isHeld })
    },
    beginEviction(ref: FileRef, key: ObjectKey, deadline: number): boolean {
      const row = rowOf(ref)
      const isListed = row.original?.state === 'stored' || row.original?.state === 'trashed'
      if (!isListed || row.derivatives.get(key)?.state !== 'stored') return false
      row.derivatives.set(key, { state: 'pending', deadline })
      row.uses.delete(key)
      return true
    },
    /** In the order of their eviction. */
    used(clientId: string): UsedDerivative[] {
      const own = [...rows].filter(([name]) => name.startsWith(`${clientId} `))
      const all = own.flatMap(([name, { uses, derivatives }]) =>
        [...uses].map(([key, use]) => {
          const entry = derivatives.get(key)
          if (entry?.state !== 'stored') throw new Error(`the model counts ${key}, which is not stored`)
          const { size, partsBytes = 0 } = entry.record
          return { original: storedKey(name.slice(clientId.length + 1)), key, bytes: size + partsBytes, use }
        }),
      )
      const order = ({ key, use: { at, isHeld } }: UsedDerivative) =>
        `${isHeld ? 1 : 0}${String(at).padStart(15, '0')}${key}`
      return all.sort((one, other) => (order(one) < order(other) ? -1 : 1))
    },
    adoptDerivative(ref: FileRef, record: DerivativeRecord): DerivativeEntry | undefined {
      const row = rowOf(ref)
      if (row.original?.state !== 'stored') return undefined
      const entry = row.derivatives.get(record.key) ?? { state: 'stored', record }
      if (!row.derivatives.has(record.key)) row.uses.set(record.key, { at: 0, isHeld: false })
      row.derivatives.set(record.key, entry)
      return entry
    },
    amendDerivative(ref: FileRef, record: DerivativeRecord, amended: DerivativeRecord): boolean {
      const row = rowOf(ref)
      const entry = row.derivatives.get(record.key)
      if (row.original?.state !== 'stored' || !isDeepStrictEqual(entry, { state: 'stored', record }))
        return false
      row.derivatives.set(record.key, { state: 'stored', record: amended })
      return true
    },
    dropDerivative(ref: FileRef, key: ObjectKey, deadline: number): void {
      const row = rowOf(ref)
      const entry = row.derivatives.get(key)
      if (entry?.state !== 'pending' || entry.deadline > deadline) return
      row.derivatives.delete(key)
      if (row.original?.state === 'gone' && row.derivatives.size === 0) delete row.original
    },
    beginRemoval(
      ref: FileRef,
      { cause, leaseUntil, now }: { cause: RemovalCause; leaseUntil: number; now: number },
    ): ObjectKey[] | undefined {
      const row = rowOf(ref)
      if (!mayRemove(row, cause, now)) return undefined
      row.original = { state: 'going', leaseUntil }
      return [...row.derivatives.keys()]
    },
    finishRemoval(ref: FileRef, now: number): boolean {
      const row = rowOf(ref)
      if (row.original?.state !== 'going') return false
      for (const [key, entry] of row.derivatives)
        if (entry.state === 'stored' || isOver(entry, now)) row.derivatives.delete(key)
      row.uses.clear()
      if (row.derivatives.size > 0) row.original = { state: 'gone' }
      else delete row.original
      return true
    },
    /** One client's files, as {@link listOf} gives them. */
    list(clientId: string): Record<string, unknown> {
      const own = [...rows].filter(([name, { original }]) => original && name.startsWith(`${clientId} `))
      return Object.fromEntries(
        own.map(([name, { original, derivatives }]) => [
          name,
          { original, derivatives: Object.fromEntries(derivatives) },
        ]),
      )
    },
    /** As `<client> <original>[ <derivative>]`, sorted. */
    overdue(now: number): string[] {
      const found: string[] = []
      for (const [name, row] of rows) {
        if (row.original?.state === 'gone' ? !busy(row, now) : row.original && isOver(row.original, now))
          found.push(name)
        if (row.original?.state !== 'stored' && row.original?.state !== 'trashed') continue
        for (const [key, entry] of row.derivatives) if (isOver(entry, now)) found.push(`${name} ${key}`)
      }
      return found.sort()
    },
  }
}

/** Files of one form have such ids. */
function idsOfOneHash(count: number): string[] {
  const ids: string[] = []
  for (let n = 1; ids.length < count; n += 1) {
    const id = String(n).replaceAll('0', 'x').padStart(22, '1')
    if (partitionHash(id) === partitionHash(ids[0] ?? id)) ids.push(id)
  }
  return ids
}

/**
 * Does the same steps at random on an index and on the model, and compares every answer, what is found after it, and
 * now and then what is overdue.
 *
 * @param open returns the index, or one of several with the same data; called for each step
 * @param reopen now and then: closes the index and opens it again
 * @param move after each step: may move a client within the index, which changes nothing that is seen of it. Returns what it has done
 */
export async function compareWithModel({
  open,
  reopen,
  move,
  steps: count,
  random,
}: {
  open: () => FileIndex
  reopen?: () => Promise<void>
  move?: (clients: readonly string[]) => Promise<string | undefined>
  steps: number
  random: Random
}): Promise<void> {
  const model = createIndexModel()
  const clients = ['one', 'two'].map((name) => `model-${name}-${process.pid}-${Date.now()}`)
  // One in a subfolder of another, and one in no folder.
  const ids = idsOfOneHash(3)
  const keys = ['a/', 'a/b/', ''].map((folder, n) => storedKey(`${folder}image/png/${ids[n]}.png`))
  const refs = clients.flatMap((clientId) => keys.map((key) => ({ clientId, key })))
  const derivativesOf = ({ key }: FileRef) => ['w=1', 'w=10', 'h=1'].map((name) => derivativeKey(key, name))
  const history: string[] = []
  const visited = new Set<string>()
  let now = 1_800_000_000_000
  let comparisons = 0
  /** How much of the history the last comparison of everything has. */
  let comparedAt = 0

  for (let number = 0; number < count; number += 1) {
    now += random.below(2)
    const index = open()
    const ref = random.oneOf(refs)
    const key = random.oneOf(derivativesOf(ref))
    const others = refs.filter(({ clientId }) => clientId === ref.clientId && random.below(3) === 0)
    const several = [ref, ...others.filter((other) => other !== ref)]
    const until = now + random.below(100) - 10
    const record = (one: FileRef): OriginalRecord => ({
      key: one.key,
      // Not in the order of the steps, in both cases, and with characters that JSON escapes.
      originalName: `${['N', 'n', '"', '\\', '\t'][number % 5]}umber ${number % 7}.png`,
      mediaType: 'image/png',
      size: number,
      // In no order, and not always one of its own.
      sha256: String((number * 7919) % 5).padEnd(64, '0'),
      storedAt: now - (number % 3),
    })
    const { original: entry } = model.row(ref)
    // Now and then one that was known, or never was.
    const known = entry?.state === 'stored' && random.below(3) > 0 ? entry.record : record(ref)
    const { tags: _, ...untagged } = known
    const amended: OriginalRecord = {
      ...untagged,
      probe: `at ${number}`,
      originalName: number % 4 > 1 ? record(ref).originalName : known.originalName,
      ...(number % 2 === 1 ? { tags: ['odd', `${number % 3}`] } : {}),
    }
    const parts = random.below(3) === 0 ? { partsBytes: 5_000_000_000 + number } : {}
    const derived = { key, mediaType: 'image/webp', size: number, ...parts }
    const use = { at: now - random.below(3), isHeld: random.below(4) === 0 }
    // Of three there are.
    const atMost = 1 + random.below(3)
    const removal = (cause: RemovalCause) => ({ cause, leaseUntil: until, now })
    const steps = {
      beginUpload: async () => [
        await index.beginUpload(ref, until).then(
          () => 'ok',
          () => 'throws',
        ),
        model.beginUpload(ref, until),
      ],
      renewUpload: async () => [await index.renewUpload(several, until), model.renewUpload(several, until)],
      finishUpload: async () => [
        await index.finishUpload(ref.clientId, several.map(record)),
        model.finishUpload(ref.clientId, several.map(record)),
      ],
      adopt: async () => [
        await index.adopt(ref.clientId, record(ref)),
        model.adopt(ref.clientId, record(ref)),
      ],
      adoptTrashed: async () => [
        await index.adopt(ref.clientId, record(ref), { at: now, until }),
        model.adopt(ref.clientId, record(ref), { at: now, until }),
      ],
      trash: async () => [
        (await index.trash(ref, { at: now, until }))?.sort(),
        model.trash(ref, { at: now, until })?.sort(),
      ],
      restore: async () => [await index.restore(ref, now), model.restore(ref, now)],
      purge: async () => [
        (await index.beginRemoval(ref, removal('purge')))?.sort(),
        model.beginRemoval(ref, removal('purge'))?.sort(),
      ],
      amend: async () => [
        await index.amend(ref.clientId, known, amended),
        model.amend(ref.clientId, known, amended),
      ],
      beginDerivative: async () => [
        await index.beginDerivative(ref, key, until, { atMost }),
        model.beginDerivative(ref, key, until, { atMost }),
      ],
      finishDerivative: async () => [
        await index.finishDerivative(ref, derived, use),
        model.finishDerivative(ref, derived, use),
      ],
      noteUseAndAmend: async () => {
        const { derivative: noted } = await index.find(ref, key)
        const before = noted?.state === 'stored' && number % 2 === 0 ? noted.record : derived
        const smaller = number % 3 === 0 ? { smaller: { key, since: number } } : {}
        const after = { ...before, crc32: number, ...smaller }
        return [
          [await index.noteUse(ref, key, use), await index.amendDerivative(ref, before, after)],
          [model.noteUse(ref, key, use), model.amendDerivative(ref, before, after)],
        ]
      },
      beginEviction: async () => [
        await index.beginEviction(ref, key, until),
        model.beginEviction(ref, key, until),
      ],
      countDerivatives: async () => [await index.countDerivatives(ref), undefined],
      adoptDerivative: async () => [
        await index.adoptDerivative(ref, derived),
        model.adoptDerivative(ref, derived),
      ],
      dropDerivative: async () => [
        await index.dropDerivative(ref, key, until),
        model.dropDerivative(ref, key, until),
      ],
      delete: async () => [
        (await index.beginRemoval(ref, removal('delete')))?.sort(),
        model.beginRemoval(ref, removal('delete'))?.sort(),
      ],
      abandon: async () => [
        (await index.beginRemoval(ref, removal('abandon')))?.sort(),
        model.beginRemoval(ref, removal('abandon'))?.sort(),
      ],
      sweep: async () => [
        (await index.beginRemoval(ref, removal('sweep')))?.sort(),
        model.beginRemoval(ref, removal('sweep'))?.sort(),
      ],
      finishRemoval: async () => [await index.finishRemoval(ref, now), model.finishRemoval(ref, now)],
    } satisfies Record<string, () => Promise<unknown[]>>

    const compareLists = async (opened: FileIndex, clientId: string, limits: readonly number[]) => {
      const totals = { stored: { files: 0, bytes: 0 }, trashed: { files: 0, bytes: 0 } }
      for (const state of ['stored', 'trashed'] as const) {
        const all = model.listed(clientId, { state, by: 'key' })
        totals[state] = { files: all.length, bytes: all.reduce((sum, one) => sum + one.record.size, 0) }
        for (const [i, by] of (['key', 'storedAt', 'sha256', 'name', 'size'] as const).entries()) {
          // In `npm test`, every second order, and the others the next time.
          const isCompared = sized((comparisons + i) % 2 === 0, true)
          let up: unknown[] = []
          for (const direction of ['up', 'down'] as const) {
            const limit =
              by === 'name' || by === 'size' ? 2 : (limits[(comparisons + i) % limits.length] ?? 1)
            if (!isCompared) continue
            const expected = model.listed(clientId, { state, by, direction })
            const found = await listed(opened, clientId, { state, by, direction, limit })
            const what = `${story()}${state} by ${by} ${direction}`
            expect(equalByKey(found, by), what).to.deep.equal(equalByKey(expected, by))
            if (direction === 'up') up = found
            else expect(found, what).to.deep.equal(up.reverse())
          }
        }
      }
      expect(await opened.totals(clientId), story()).to.deep.equal(totals)
      await compareFolders(opened, clientId, (state) => model.listed(clientId, { state, by: 'key' }))
      expect(await opened.recount(clientId, { repair: false }), story()).to.deep.equal([])
      const records = (['stored', 'trashed'] as const).flatMap((state) =>
        model.listed(clientId, { state, by: 'key' }).map((one) => one.record),
      )
      await compareSearch(opened, clientId, records)
    }

    const compareUses = async (opened: FileIndex, one: FileRef) => {
      const { clientId, key: original } = one
      const all = model.used(clientId)
      const ofOne = all.filter((each) => each.original === original)
      const bytesOf = (used: readonly UsedDerivative[]) => used.reduce((sum, { bytes }) => sum + bytes, 0)
      for (const [of, known] of [[{ clientId }, all] as const, [one, ofOne] as const]) {
        const used = await opened.leastUsed(of, 100)
        // Each adapter has its own order of those with the same use.
        expect(
          used.map(({ use }) => use),
          story(),
        ).to.deep.equal(known.map(({ use }) => use))
        expect(used, story()).to.have.deep.members(known)
        expect(await opened.leastUsed(of, 2), story()).to.deep.equal(used.slice(0, 2))
      }
      const bytes = { client: bytesOf(all), original: bytesOf(ofOne) }
      expect(await opened.derivedBytes(one), story()).to.deep.equal(bytes)
    }

    // Tombstones are rare: they take a derivative that is begun, and a delete that ends before it.
    const names = Object.keys(steps) as Array<keyof typeof steps>
    const name = random.oneOf<keyof typeof steps>([
      ...names,
      'beginDerivative',
      'beginDerivative',
      'finishRemoval',
      'finishRemoval',
    ])
    visited.add(`${name} when ${model.row(ref).original?.state ?? 'unknown'}`)
    history.push(`${number} at ${now}: ${name} ${several.map((one) => refs.indexOf(one))} ${key} ${until}`)
    const story = () =>
      `the last steps:\n${history.slice(Math.min(comparedAt, -12 + history.length)).join('\n')}\n`
    const [answer, expected] = await steps[name]()
    expect(answer, story()).to.deep.equal(expected)

    // A step changes derivatives of `ref` alone. The reads are sent at once: each round trip takes longer than the work of the index.
    const reads = several.flatMap((one) =>
      derivativesOf(one).flatMap((each, i) => (one === ref || i === 0 ? [{ one, each }] : [])),
    )
    const modelled = reads.map(({ one, each }) => {
      const { original, derivatives } = model.row(one)
      const derivative = derivatives.get(each)
      return { ...(original ? { original } : {}), ...(derivative ? { derivative } : {}) }
    })
    const read = await Promise.all(reads.map(({ one, each }) => open().find(one, each)))
    expect(read, story()).to.deep.equal(modelled)
    if (random.below(20) === 0) {
      comparisons += 1
      const opened = open()
      const limits = Array.from({ length: 24 }, () => 1 + random.below(3))
      await index.tidy({ most: 100 })
      // In `npm test`, every fifth time. The long run has the same steps with this seed, and compares each time.
      if (sized(comparisons % 5 === 0, true)) {
        await compareUses(opened, ref)
        expect(await overdueOf(opened, now, clients), story()).to.deep.equal(model.overdue(now))
        for (const clientId of clients)
          expect(await listOf(opened, clientId), story()).to.deep.equal(model.list(clientId))
        for (const clientId of clients) await compareLists(opened, clientId, limits)
        comparedAt = history.length
      }
    }
    const moved = await move?.(clients)
    if (moved) history.push(moved)
    if (reopen && random.below(50) === 0) {
      await reopen()
      model.reopen()
      history.push('reopened')
      expect(await overdueOf(open(), now, clients), story()).to.deep.equal(model.overdue(now))
    }
  }
  // 20 steps in 6 states: all of them must have been met, unless there are few steps.
  expect(visited.size, [...visited].sort().join(', ')).to.be.at.least(Math.min(120, Math.floor(count / 4)))
}

function valueIn(record: OriginalRecord, by: PageRequest['by']): number | string {
  return by === 'key' ? '' : by === 'name' ? record.originalName.toLowerCase() : record[by]
}

/** A list with equal ones sorted by key, since each store has its own order of them. */
function equalByKey<T extends { record: OriginalRecord }>(files: readonly T[], by: PageRequest['by']): T[] {
  if (by === 'key') return [...files]
  const sorted: T[] = []
  for (let from = 0; from < files.length; ) {
    const value = valueIn((files[from] as T).record, by)
    const end = files.findIndex((file, i) => i > from && valueIn(file.record, by) !== value)
    const equal = files.slice(from, end === -1 ? files.length : end)
    sorted.push(...equal.sort((one, other) => (one.record.key < other.record.key ? -1 : 1)))
    from += equal.length
  }
  return sorted
}

/** All pages of a list. */
export async function listed(index: FileIndex, clientId: string, request: PageRequest) {
  const files: Array<{ record: OriginalRecord; trash?: Trash }> = []
  for (let after: string | undefined; ; ) {
    const page = await index.page(clientId, { ...request, ...(after === undefined ? {} : { after }) })
    expect(page.files.length).to.be.at.most(request.limit)
    files.push(...page.files.map(({ position: _, ...file }) => file))
    // Each is where it says: what is behind it begins with the next one. In `npm test`, this looks at the first page.
    if (page.files[1] && sized(after === undefined, true)) {
      const behind = await index.page(clientId, {
        ...request,
        after: String(page.files[0]?.position),
        limit: 1,
      })
      expect(behind.files).to.deep.equal([page.files[1]])
    }
    if (page.next === undefined) return files
    after = page.next
  }
}

/** What an index lists of a client, by `<client> <original>`; given twice counts once. */
export async function listOf(index: FileIndex, clientId?: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for await (const { ref, original, derivatives } of index.list(clientId))
    found[`${ref.clientId} ${ref.key}`] = {
      original,
      derivatives: Object.fromEntries(derivatives.map(({ key, entry }) => [key, entry])),
    }
  return found
}

async function overdueOf(index: FileIndex, now: number, clients: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for await (const item of index.overdue(now)) {
    if (!clients.includes(item.ref.clientId)) continue
    const name = `${item.ref.clientId} ${item.ref.key}`
    found.push(item.kind === 'original' ? name : `${name} ${item.derivative}`)
  }
  return found.sort()
}

/** The same after a reindex: the bucket has no record of a derivative, so its checksum is known only while the index is. */
export async function reindexedListOf(index: FileIndex, clientId?: string): Promise<Record<string, unknown>> {
  const withoutChecksum = (name: string, value: unknown) => (name === 'crc32' ? undefined : value)
  return JSON.parse(JSON.stringify(await listOf(index, clientId)), withoutChecksum)
}
