import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { mapConcurrent } from '../../../src/core/async/map-concurrent.ts'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { derivativeKey, type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { DerivativeRecord, FileIndex, OriginalRecord } from '../../../src/core/ports/file-index.ts'
import type { PageRequest } from '../../../src/core/ports/index/page-request.ts'
import type { Overdue } from '../../../src/core/ports/index/steps.ts'
import { rejection } from '../../support/rejection.ts'
import { sized } from '../../support/sized.ts'
import { type Random, seededRandom } from '../random.ts'
import { derivativeUsesContract } from './derivative-uses.ts'
import { compareWithModel, listed, listOf } from './file-index-model.ts'
import {
  AHEAD,
  adopted,
  beginRemoval,
  d,
  derived,
  FOREVER,
  gone,
  NOW,
  newRef,
  newRefs,
  OVER,
  record,
  STATES,
  STEPS,
  type State,
  type Step,
  shown,
  TRANSITIONS,
} from './file-index-states.ts'
import { fileSearchContract } from './file-search.ts'
import { folderCountsContract } from './folder-counts.ts'
import { folderKeysContract } from './folder-keys.ts'
import { recordChangesContract } from './record-changes.ts'
import { recordTagsContract } from './record-tags.ts'

export interface OpenedIndex {
  index: FileIndex
  /** The same index as another process sees it; where only one process may, `index` itself. */
  elsewhere: FileIndex
  /** Set where a page is merged from several lists: it may read more files than its limit. */
  isMerged?: true
  close(): Promise<void>
}

/**
 * What every {@link FileIndex} has to do, seen through the port alone.
 *
 * @param options.steps random ones. 0: another test makes them
 * @param options.hasStates whether each step is tried in each state of an original
 */
export function fileIndexContract(
  name: string,
  open: () => Promise<OpenedIndex>,
  { steps = sized(1500, 10_000), seed = 20_260_101, hasStates = true } = {},
): void {
  describe(`${name}: the contract of FileIndex`, () => {
    let opened: OpenedIndex
    let index: FileIndex
    let elsewhere: FileIndex
    let ref: FileRef

    before(async () => {
      opened = await open()
      index = opened.index
      elsewhere = opened.elsewhere
    })
    after(() => opened.close())
    beforeEach(() => {
      ref = newRef()
    })

    it('responds to ping', () => index.ping())

    derivativeUsesContract(() => opened)
    recordChangesContract(() => opened)
    recordTagsContract(() => opened)
    folderCountsContract(() => opened)
    folderKeysContract(() => opened)
    fileSearchContract(() => opened)

    describe('the state machine', () => {
      const all = Object.entries(TRANSITIONS) as Array<[State, Record<Step, string>]>
      for (const [state, answers] of hasStates ? all : []) {
        describe(`an original that is ${state}`, () => {
          for (const [step, expected] of Object.entries(answers) as Array<[Step, string]>) {
            it(`${step}: ${expected}`, async () => {
              await STATES[state](index, ref)
              const before = await shown(index, ref)
              const answer = await STEPS[step](index, ref)
              const after = await shown(index, ref)
              expect(after === before ? answer : `${answer} → ${after}`).to.equal(expected)
            })
          }
        })
      }
    })

    describe('uploads', () => {
      it('are found as pending with their lease, and as stored with their record', async () => {
        await index.beginUpload(ref, NOW + 5)
        expect(await elsewhere.find(ref)).to.deep.equal({
          original: { state: 'pending', leaseUntil: NOW + 5 },
        })
        const stored: OriginalRecord = {
          key: ref.key,
          originalName: 'Übergrößen “quoted” \\ 日本.png',
          mediaType: 'text/plain; charset=utf-8',
          size: 5 * 1024 ** 3 + 1,
          sha256: 'ab'.repeat(32),
          storedAt: NOW + 0.5,
        }
        expect(await index.finishUpload(ref.clientId, [stored])).to.equal(true)
        expect(await elsewhere.find(ref)).to.deep.equal({ original: { state: 'stored', record: stored } })
      })

      it('keep the stored data when the key is already known', async () => {
        await adopted(index, ref)
        const before = await index.find(ref)
        expect(await rejection(index.beginUpload(ref, AHEAD))).to.be.instanceOf(Error)
        expect(await index.find(ref)).to.deep.equal(before)
      })

      it('finish all files or none when one of them was deleted', async () => {
        for (const spoilt of [0, 1, 2]) {
          for (const state of ['unknown', 'going, lease ahead', 'gone, deadline ahead'] as const) {
            const { clientId } = newRef()
            const refs = newRefs(clientId, 3)
            for (const [i, each] of refs.entries())
              await (i === spoilt ? STATES[state](index, each) : index.beginUpload(each, AHEAD))
            const before = await Promise.all(refs.map((each) => index.find(each)))
            const records = refs.map(({ key }) => record(key, 'new'))
            expect(await index.finishUpload(clientId, records), `${spoilt} ${state}`).to.equal(false)
            expect(await Promise.all(refs.map((each) => index.find(each)))).to.deep.equal(before)
          }
        }
      })

      it('finish again, and next to one that is already stored and remains unchanged', async () => {
        const refs = newRefs(ref.clientId, 2)
        const [first] = refs as [FileRef]
        for (const each of refs) await index.beginUpload(each, AHEAD)
        expect(await index.finishUpload(ref.clientId, [record(first.key, 'first')])).to.equal(true)
        const again = refs.map(({ key }) => record(key, 'again'))
        for (const time of [1, 2]) {
          expect(await elsewhere.finishUpload(ref.clientId, again), `${time}`).to.equal(true)
          const names = await Promise.all(
            refs.map(async (each) => (await index.find(each)).original as { record: OriginalRecord }),
          )
          expect(names.map((each) => each.record.originalName)).to.deep.equal(['first', 'again'])
        }
        expect(await overdue(index, AHEAD + 1, refs)).to.deep.equal([])
      })

      it('finish together, 100 at once', async () => {
        const refs = newRefs(ref.clientId, 100)
        await Promise.all(refs.map((each) => index.beginUpload(each, AHEAD)))
        const records = refs.map(({ key }, i) => record(key, `${i}`))
        expect(await index.finishUpload(ref.clientId, records)).to.equal(true)
        for (const [i, each] of refs.entries())
          expect(await elsewhere.find(each)).to.deep.equal({
            original: { state: 'stored', record: records[i] },
          })
      })

      it('finish without files', async () => {
        expect(await index.finishUpload(ref.clientId, [])).to.equal(true)
        await index.renewUpload([], AHEAD)
      })

      it('extend the lease of pending uploads of several clients, and of no other upload', async () => {
        const pending = [newRef(), newRef()]
        for (const each of pending) await index.beginUpload(each, OVER)
        const others = await Promise.all(
          (['unknown', 'stored', 'going, lease ahead', 'gone, deadline ahead'] as const).map(
            async (state) => {
              const each = newRef()
              await STATES[state](index, each)
              return { each, before: await index.find(each) }
            },
          ),
        )
        await index.renewUpload([...pending, ...others.map(({ each }) => each)], NOW + 9)
        for (const each of pending)
          expect(await index.find(each)).to.deep.equal({
            original: { state: 'pending', leaseUntil: NOW + 9 },
          })
        for (const { each, before } of others) expect(await index.find(each)).to.deep.equal(before)
        expect(await overdue(index, NOW + 8, pending)).to.deep.equal([])
        expect(await overdue(index, NOW + 9, pending)).to.deep.equal(pending.map(original).sort())
      })
    })

    describe('adopt', () => {
      it('adds an unknown file and never overwrites', async () => {
        const first = record(ref.key, 'first')
        expect(await index.adopt(ref.clientId, first)).to.deep.equal({ state: 'stored', record: first })
        expect(await elsewhere.adopt(ref.clientId, record(ref.key, 'second'))).to.deep.equal({
          state: 'stored',
          record: first,
        })
        expect(await index.find(ref)).to.deep.equal({ original: { state: 'stored', record: first } })
      })

      it('returns the lease of a pending upload', async () => {
        await index.beginUpload(ref, AHEAD)
        expect(await index.adopt(ref.clientId, record(ref.key, 'x'))).to.deep.equal({
          state: 'pending',
          leaseUntil: AHEAD,
        })
      })
    })

    describe('enlist', () => {
      it('adds no entry, and changes none', async () => {
        await index.enlist(ref.clientId, record(ref.key, 'first'))
        expect(await index.find(ref)).to.deep.equal({})
        expect((await index.totals(ref.clientId)).stored.files).to.equal(0)
        const first = record(ref.key, 'first')
        await index.adopt(ref.clientId, first)
        await elsewhere.enlist(ref.clientId, record(ref.key, 'second'))
        expect(await index.find(ref)).to.deep.equal({ original: { state: 'stored', record: first } })
        expect((await index.totals(ref.clientId)).stored.files).to.equal(1)
      })
    })

    describe('amend', () => {
      it('replaces the record that is known, and no other', async () => {
        const first = record(ref.key, 'first')
        const scan = { state: 'infected', signature: 'a "b"' } as const
        const amended = { ...first, probe: 'width "1920"\n日本', scan }
        await index.adopt(ref.clientId, first)
        await index.beginDerivative(ref, d(ref), AHEAD)
        expect(await elsewhere.amend(ref.clientId, first, amended)).to.equal(true)
        expect(await index.find(ref)).to.deep.equal({ original: { state: 'stored', record: amended } })
        expect(await index.amend(ref.clientId, first, { ...first, probe: 'late' })).to.equal(false)
        expect(await elsewhere.find(ref, d(ref))).to.deep.equal({
          original: { state: 'stored', record: amended },
          derivative: { state: 'pending', deadline: AHEAD },
        })
      })
    })

    describe('trash', () => {
      it('keeps record and derivatives, and restores them before the retention ends', async () => {
        await adopted(index, ref)
        await index.finishDerivative(ref, derived(d(ref)))
        const { original } = await index.find(ref)
        expect(await index.trash(ref, { at: NOW, until: NOW + 5 })).to.deep.equal([d(ref)])
        expect(await elsewhere.find(ref)).to.deep.equal({
          original: { ...original, state: 'trashed', trash: { at: NOW, until: NOW + 5 } },
        })
        expect(await overdue(index, NOW + 4, [ref])).to.deep.equal([])
        expect(await overdue(index, NOW + 5, [ref])).to.have.length(1)
        expect(await elsewhere.restore(ref, NOW + 5)).to.equal(false)
        expect(await elsewhere.restore(ref, NOW + 4)).to.equal(true)
        expect(await index.find(ref, d(ref))).to.deep.equal({
          original,
          derivative: { state: 'stored', record: derived(d(ref)) },
        })
        expect(await overdue(index, NOW + 5, [ref])).to.deep.equal([])
      })

      it('lets a sweep delete its derivatives in progress', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), NOW + 3)
        await index.trash(ref, { at: NOW, until: NOW + 50 })
        expect(await overdue(elsewhere, NOW + 3, [ref])).to.deep.equal([derivative(ref, d(ref))])
        await index.dropDerivative(ref, d(ref), FOREVER)
        expect(await overdue(index, NOW + 49, [ref])).to.deep.equal([])
      })
    })

    describe('lists', () => {
      const tags = ['"sha256":"00"', '"size":7,"storedAt":8']
      const metadata = { sha256: 'ff', size: '9', storedAt: '1' }
      const odd = (each: FileRef, i: number): OriginalRecord => ({
        ...record(each.key, `"size":5 "sha256":"ee" ${i}`),
        size: 10 ** i,
        sha256: `${9 - i}0`,
        storedAt: NOW - i,
        probe: '{"size":3,"sha256":"dd"}',
        tags,
        metadata,
      })

      it('are sorted and counted correctly, whatever tags and metadata contain', async () => {
        const refs = [3, 1, 2].map((n) => ({
          clientId: ref.clientId,
          key: storedKey(`b/image/png/${String(n).repeat(22)}.png`),
        }))
        const records = refs.map(odd)
        await index.adopt(ref.clientId, records[0] as OriginalRecord)
        for (const each of refs.slice(1)) await index.beginUpload(each, AHEAD)
        for (const one of records.slice(1)) await index.finishUpload(ref.clientId, [one])
        const [r3, r1, r2] = records as [OriginalRecord, OriginalRecord, OriginalRecord]
        const orders = {
          ...{ key: [r1, r2, r3], storedAt: [r2, r1, r3], sha256: [r2, r1, r3] },
          ...{ name: [r3, r1, r2], size: [r3, r1, r2] },
        }
        const given = async (request: Partial<PageRequest>) =>
          (
            await elsewhere.page(ref.clientId, { state: 'stored', by: 'key', limit: 10, ...request })
          ).files.map((file) => file.record)
        for (const [by, expected] of Object.entries(orders)) {
          const order = { by: by as PageRequest['by'] }
          expect(await given(order), by).to.deep.equal(expected)
          expect(await given({ ...order, direction: 'down' }), by).to.deep.equal([...expected].reverse())
        }
        await index.amend(ref.clientId, r2, { ...r2, metadata: { sha256: '11' } })
        expect(await given({ by: 'sha256', prefix: `${r2.sha256} b/image/png/` })).to.have.length(1)
        expect(await index.totals(ref.clientId)).to.deep.equal({
          stored: { files: 3, bytes: 111 },
          trashed: { files: 0, bytes: 0 },
        })
      })

      it('stop at the end of a prefix, and continue after a deleted file', async () => {
        const folders = ['a', 'a!', 'a0', 'a/b', 'a/b', 'a/bc', '日本', '🎉', 'b'].map((folder) => ({
          ...ref,
          key: storedKey(`${folder}/${newRef().key}`),
        }))
        for (const each of folders) await adopted(index, each)
        const given = async (request: Partial<PageRequest>) => {
          const all = { state: 'stored', by: 'key', limit: 100, ...request } as const
          return (await listed(elsewhere, ref.clientId, all)).map((file) => file.record.key as string)
        }
        const inOrder = folders
          .map(({ key }) => key as string)
          .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
        expect(await given({})).to.deep.equal(inOrder)
        expect(await given({ limit: 2 })).to.deep.equal(inOrder)
        for (const prefix of ['a/', 'a/b/', '日本/', '🎉/', 'none/'])
          for (const direction of ['up', 'down'] as const)
            for (const limit of [1, 100]) {
              const expected = inOrder.filter((key) => key.startsWith(prefix))
              if (direction === 'down') expected.reverse()
              expect(await given({ prefix, direction, limit }), `${prefix} ${direction}`).to.deep.equal(
                expected,
              )
            }
        for (const by of ['storedAt', 'name', 'size'] as const)
          for (const { position } of (await index.page(ref.clientId, { state: 'stored', by, limit: 9 }))
            .files) {
            expect(index.isPosition(position, by), position).to.equal(true)
            // As of another store, or of version 1.0.
            for (const other of ['', 'xyz', inOrder[0] ?? ''])
              expect(index.isPosition(other, by), other).to.equal(false)
          }
        const [first, second, ...rest] = inOrder
        const gone = { ...ref, key: storedKey(String(second)) }
        await index.beginRemoval(gone, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        expect(await given({ after: String(second) })).to.deep.equal(rest)
        expect(await given({ after: String(second), direction: 'down' })).to.deep.equal([first])
        expect(await given({ after: 'a', prefix: 'b/' }), 'before the prefix').to.have.length(1)
        expect(await given({ after: 'c', prefix: 'b/' }), 'behind it').to.deep.equal([])
      })

      it('are separate for each client and state', async () => {
        const other = { ...ref, clientId: `${ref.clientId}x` }
        for (const each of [ref, other]) await adopted(index, each)
        await index.trash(other, { at: NOW, until: AHEAD })
        const count = async (each: FileRef, state: 'stored' | 'trashed') =>
          (await index.page(each.clientId, { state, by: 'storedAt', limit: 9 })).files.length
        expect([await count(ref, 'stored'), await count(ref, 'trashed')]).to.deep.equal([1, 0])
        expect([await count(other, 'stored'), await count(other, 'trashed')]).to.deep.equal([0, 1])
      })

      it('are incomplete until they are marked as complete', async () => {
        const fresh = await open()
        try {
          expect([await fresh.index.isComplete(), await fresh.index.isWhole()]).to.deep.equal([false, false])
          const { data } = await fresh.index.run()
          // It was emptied or replaced in between.
          await fresh.index.markComplete(data.replace(/[0-9a-f]/, 'x'))
          expect(await fresh.elsewhere.isWhole()).to.equal(false)
          await fresh.index.markComplete(data)
          expect(await fresh.elsewhere.isComplete()).to.equal(true)
          expect([await fresh.elsewhere.isWhole(), await fresh.index.isWhole(ref)]).to.deep.equal([
            true,
            true,
          ])
        } finally {
          await fresh.close()
        }
      })
    })

    describe('derivatives', () => {
      it('are adopted for an original in the trash only where the caller allows that', async () => {
        await adopted(index, ref)
        await index.trash(ref, { at: NOW, until: AHEAD })
        const found = derived(d(ref))
        expect(await index.adoptDerivative(ref, found)).to.equal(undefined)
        const entry = await index.adoptDerivative(ref, found, ['stored', 'trashed'])
        expect(entry).to.deep.equal({ state: 'stored', record: found })
        expect(await index.beginRemoval(ref, { cause: 'purge', leaseUntil: AHEAD, now: NOW })).to.deep.equal([
          d(ref),
        ])
        expect(await index.adoptDerivative(ref, found, ['stored', 'trashed'])).to.equal(undefined)
      })

      it('are found with their original, pending and stored', async () => {
        await adopted(index, ref)
        const { original } = await index.find(ref)
        expect(await index.find(ref, d(ref))).to.deep.equal({ original })
        await index.beginDerivative(ref, d(ref), NOW + 5)
        expect(await elsewhere.find(ref, d(ref))).to.deep.equal({
          original,
          derivative: { state: 'pending', deadline: NOW + 5 },
        })
        const stored: DerivativeRecord = { key: d(ref), mediaType: 'image/webp', size: 0 }
        expect(await index.finishDerivative(ref, stored)).to.equal(true)
        expect(await elsewhere.find(ref, d(ref))).to.deep.equal({
          original,
          derivative: { state: 'stored', record: stored },
        })
      })

      it('are separate from others whose names begin the same', async () => {
        const [short, long] = [derivativeKey(ref.key, 'w=1'), derivativeKey(ref.key, 'w=10')]
        await adopted(index, ref)
        await index.beginDerivative(ref, long, AHEAD)
        expect(await index.find(ref, short)).to.not.have.property('derivative')
        await index.beginDerivative(ref, short, AHEAD)
        await index.dropDerivative(ref, short, FOREVER)
        expect(await index.find(ref, long)).to.have.property('derivative')
      })

      it('begin again with a later deadline, also over a stored one', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), OVER)
        expect(await index.beginDerivative(ref, d(ref), AHEAD)).to.equal('begun')
        expect(await overdue(index, NOW, [ref])).to.deep.equal([])
        await index.finishDerivative(ref, derived(d(ref)))
        expect(await index.beginDerivative(ref, d(ref), AHEAD)).to.equal('begun')
        expect((await index.find(ref, d(ref))).derivative).to.deep.equal({
          state: 'pending',
          deadline: AHEAD,
        })
      })

      it('are limited in number, including pending ones; known ones begin again', async () => {
        const named = (name: string) => derivativeKey(ref.key, name)
        const begin = (name: string, atMost: number) =>
          elsewhere.beginDerivative(ref, named(name), AHEAD, { atMost })
        await adopted(index, ref)
        expect(await begin('w=1', 2)).to.equal('begun')
        await index.finishDerivative(ref, derived(named('w=1')))
        expect(await begin('w=2', 2)).to.equal('begun')
        expect(await begin('w=3', 2)).to.equal('full')
        expect(await index.find(ref, named('w=3'))).to.not.have.property('derivative')
        expect(await overdue(index, FOREVER, [ref])).to.deep.equal([derivative(ref, named('w=2'))])
        for (const known of ['w=1', 'w=2']) expect(await begin(known, 1), known).to.equal('begun')
        await index.dropDerivative(ref, named('w=2'), FOREVER)
        expect(await begin('w=3', 2), 'in the place of one that was dropped').to.equal('begun')
        expect(await begin('w=4', 3), 'of a higher limit').to.equal('begun')
        expect(await index.beginDerivative(ref, named('w=5'), AHEAD), 'of none').to.equal('begun')
      })

      it('count for their own original only, whatever its name begins with', async () => {
        const other = newRef(ref.clientId)
        await adopted(index, ref)
        await adopted(index, other)
        await index.beginDerivative(other, d(other), AHEAD)
        expect(await index.beginDerivative(ref, d(ref), AHEAD, { atMost: 1 })).to.equal('begun')
      })

      it('never exceed the limit, however many begin at once', async () => {
        await adopted(index, ref)
        const starts = await Promise.all(
          range(40).map((i) =>
            ofTwo([index, elsewhere], i).beginDerivative(ref, derivativeKey(ref.key, `w=${i + 1}`), AHEAD, {
              atMost: 7,
            }),
          ),
        )
        expect(starts.filter((start) => start === 'begun')).to.have.length(7)
        expect(starts.filter((start) => start === 'full')).to.have.length(33)
      })

      it('are dropped only while pending', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), AHEAD)
        await index.dropDerivative(ref, d(ref), FOREVER)
        expect(await shown(index, ref)).to.equal('stored')
        await index.finishDerivative(ref, derived(d(ref)))
        await index.dropDerivative(ref, d(ref), FOREVER)
        expect(await shown(index, ref)).to.equal('stored [stored]')
      })

      it('are not dropped when they have begun again since', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), AHEAD + 5)
        await index.dropDerivative(ref, d(ref), AHEAD + 4)
        expect(await shown(index, ref)).to.equal('stored [pending+5]')
        await index.dropDerivative(ref, d(ref), AHEAD + 5)
        expect(await shown(index, ref)).to.equal('stored')
      })

      it('are dropped from an original that is being deleted, which remains so', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), AHEAD)
        await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        expect(await index.finishDerivative(ref, derived(d(ref)))).to.equal(false)
        expect(await shown(index, ref)).to.equal('going+1 [pending+1]')
        await index.dropDerivative(ref, d(ref), FOREVER)
        expect(await shown(index, ref)).to.equal('going+1')
      })

      it('remove the tombstone when the last of them is dropped, not before', async () => {
        const others = ['w=1', 'w=2', 'w=3'].map((variant) => derivativeKey(ref.key, variant))
        await adopted(index, ref)
        for (const key of others) await index.beginDerivative(ref, key, AHEAD)
        await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        await index.finishRemoval(ref, NOW)
        for (const key of others) {
          expect((await index.find(ref)).original).to.deep.equal({ state: 'gone' })
          await index.dropDerivative(ref, derivativeKey(ref.key, 'never-begun'), FOREVER)
          await index.dropDerivative(ref, key, FOREVER)
          await index.dropDerivative(ref, key, FOREVER)
        }
        expect(await index.find(ref)).to.deep.equal({})
        await index.beginUpload(ref, AHEAD)
      })
    })

    describe('derivatives found in the bucket', () => {
      it('are added once, with their record', async () => {
        await adopted(index, ref)
        const found = { ...derived(d(ref)), size: 5 * 1024 ** 3 + 1, mediaType: 'text/plain; charset=utf-8' }
        const entry = { state: 'stored', record: found }
        expect(await index.adoptDerivative(ref, found)).to.deep.equal(entry)
        expect(await index.adoptDerivative(ref, { ...found, size: 1 })).to.deep.equal(entry)
        expect((await elsewhere.find(ref, d(ref))).derivative).to.deep.equal(entry)
      })

      it('do not replace a pending derivative, which keeps its owner', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), AHEAD)
        const pending = { state: 'pending', deadline: AHEAD }
        expect(await index.adoptDerivative(ref, derived(d(ref)))).to.deep.equal(pending)
        expect((await elsewhere.find(ref, d(ref))).derivative).to.deep.equal(pending)
      })

      it('are amended while their record is the expected one, and their original is stored', async () => {
        const more = { crc32: 0xffffffff, smaller: { key: derivativeKey(ref.key, 'w=2'), since: NOW } }
        const note = (record: DerivativeRecord) =>
          elsewhere.amendDerivative(ref, record, { ...record, ...more })
        const found = { ...derived(d(ref)), partsBytes: 5 }
        const noted = { state: 'stored', record: { ...found, ...more } }
        await adopted(index, ref)
        expect(await note(found), 'not stored').to.equal(false)
        await index.adoptDerivative(ref, found)
        expect(await note({ ...found, size: 8 }), 'another record').to.equal(false)
        expect(await note(found)).to.equal(true)
        expect((await index.find(ref, d(ref))).derivative).to.deep.equal(noted)
        expect(await note(found), 'no longer its record').to.equal(false)
        await index.beginDerivative(ref, d(ref), AHEAD)
        expect(await note(found), 'pending').to.equal(false)
        await index.finishDerivative(ref, found)
        await index.trash(ref, { at: NOW, until: AHEAD })
        expect(await note(found), 'in the trash').to.equal(false)
      })

      it('restore nothing during 25 deletes', async () => {
        await adopted(index, ref)
        const keys = Array.from({ length: 25 }, (_, i) => derivativeKey(ref.key, `w=${i}`))
        const end = async (of: FileIndex) => {
          await of.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
          await of.finishRemoval(ref, NOW)
        }
        await Promise.all(
          keys.map(async (key, i) => {
            // Some before the first delete, some in the midst of it, some after.
            await pause(i)
            const of = i % 2 ? index : elsewhere
            await Promise.all([of.adoptDerivative(ref, derived(key)), end(of)])
          }),
        )
        for (const key of keys) expect(await index.find(ref, key)).to.deep.equal({})
      })
    })

    describe('the listing', () => {
      it('returns all files of one client, in every state, with their derivatives, and none of another client', async () => {
        const { clientId } = ref
        const other = newRef(`${clientId}-other`)
        await adopted(index, other)
        const expected: Record<string, unknown> = {}
        for (const reach of Object.values(STATES)) {
          const each = newRef(clientId)
          await reach(index, each)
          const { original, derivative } = await index.find(each, d(each))
          if (original)
            expected[`${clientId} ${each.key}`] = {
              original,
              derivatives: derivative ? { [d(each)]: derivative } : {},
            }
        }
        expect(Object.keys(expected)).to.have.length(Object.keys(STATES).length - 1)
        expect(await listOf(elsewhere, clientId)).to.deep.equal(expected)
        expect(await listOf(elsewhere, other.clientId)).to.have.keys(`${other.clientId} ${other.key}`)
        expect(await listOf(elsewhere, `${clientId}-nobody`)).to.deep.equal({})
      })

      it('returns all of one original', async () => {
        for (const reach of Object.values(STATES)) {
          const each = newRef()
          await reach(index, each)
          const file = await elsewhere.look(each)
          const all = Object.values(await listOf(index, each.clientId))
          const derivatives = Object.fromEntries(
            file?.derivatives.map(({ key, entry }) => [key, entry]) ?? [],
          )
          expect(file ? [{ original: file.original, derivatives }] : []).to.deep.equal(all)
        }
      })

      it('returns all of all clients', async () => {
        const other = newRef(`${ref.clientId}-other`)
        for (const each of [ref, other]) await adopted(index, each)
        expect(await listOf(elsewhere)).to.include.keys([
          `${ref.clientId} ${ref.key}`,
          `${other.clientId} ${other.key}`,
        ])
      })

      it('treats unusual characters in the ID of a client literally', async () => {
        const odd = ['*', '?', '[a-z]', 'a', 'a*', 'a/', '\\', '^', 'ü %41', "'!()~"].map(
          (id) => `${ref.clientId}${id}`,
        )
        for (const clientId of odd) await adopted(index, { ...ref, clientId })
        for (const clientId of odd)
          expect(Object.keys(await listOf(index, clientId)), clientId).to.deep.equal([
            `${clientId} ${ref.key}`,
          ])
      })

      it('returns all originals and their derivatives during concurrent changes', async () => {
        const { clientId } = ref
        // An index reads pages of 1000 entries. Of several partitions, each has too few for that in `npm test`.
        const files = sized(opened.isMerged ? 150 : 1100, 2500)
        const staying = Array.from({ length: files }, () => newRef(clientId))
        const store = async (each: FileRef) => {
          await adopted(index, each)
          await index.adoptDerivative(each, derived(d(each)))
        }
        // All at once would take longer on a busy machine than a command to Redis may take.
        for await (const _ of mapConcurrent(staying, { concurrency: 100, work: store }));
        const keys = new Set<string>(staying.map(({ key }) => key))
        const seen = new Set<string>()
        for await (const { ref: found, derivatives } of elsewhere.list(clientId)) {
          if (seen.size % 100 === 0) await adopted(index, newRef(clientId))
          if (!keys.has(found.key)) continue
          expect(derivatives.map(({ key }) => key)).to.deep.equal([d(found)])
          seen.add(found.key)
        }
        expect(seen.size).to.equal(files)
      })

      it('can be ended early', async () => {
        for (let i = 0; i < 3; i += 1) await adopted(index, newRef(ref.clientId))
        for await (const file of index.list(ref.clientId)) {
          expect(file.original.state).to.equal('stored')
          break
        }
        await index.ping()
      })
    })

    describe('removals', () => {
      it('return the keys of all derivatives, pending and stored, of this original only', async () => {
        const neighbour = { clientId: ref.clientId, key: storedKey(`${ref.key}x`) }
        const elsewhereRef = { clientId: newRef().clientId, key: ref.key }
        for (const each of [ref, neighbour, elsewhereRef]) await adopted(index, each)
        const keys = Array.from({ length: 150 }, (_, i) => derivativeKey(ref.key, `w=${i}`))
        for (const [i, key] of keys.entries()) {
          await index.beginDerivative(ref, key, i % 3 === 0 ? OVER : AHEAD)
          if (i % 2 === 0) await index.finishDerivative(ref, derived(key))
        }
        await index.finishDerivative(neighbour, derived(d(neighbour)))
        await index.finishDerivative(elsewhereRef, derived(derivativeKey(ref.key, 'theirs')))
        const taken = await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        expect(taken?.sort()).to.deep.equal(keys.sort())
        await index.finishRemoval(ref, NOW)
        expect(await shown(index, neighbour)).to.equal('stored [stored]')
        expect((await index.find(elsewhereRef, derivativeKey(ref.key, 'theirs'))).derivative?.state).to.equal(
          'stored',
        )
      })

      it('leave nothing when no deadline is in the future', async () => {
        const [over, stored] = [derivativeKey(ref.key, 'over'), derivativeKey(ref.key, 'stored')]
        await adopted(index, ref)
        await index.beginDerivative(ref, over, OVER)
        await index.finishDerivative(ref, derived(stored))
        await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        await index.finishRemoval(ref, NOW)
        for (const key of [over, stored]) expect(await index.find(ref, key)).to.deep.equal({})
        expect(await overdue(index, NOW + 1000, [ref])).to.deep.equal([])
        await index.beginUpload(ref, AHEAD)
        expect(await shown(index, ref)).to.equal('pending+1')
      })

      it('leave a tombstone with only the derivatives that may still be stored', async () => {
        const over = derivativeKey(ref.key, 'over')
        const stored = derivativeKey(ref.key, 'stored')
        const ahead = derivativeKey(ref.key, 'ahead')
        await adopted(index, ref)
        await index.beginDerivative(ref, over, OVER)
        await index.beginDerivative(ref, ahead, NOW + 5)
        await index.finishDerivative(ref, derived(stored))
        await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        await index.finishRemoval(ref, NOW)
        expect(await index.find(ref, ahead)).to.deep.equal({
          original: { state: 'gone' },
          derivative: { state: 'pending', deadline: NOW + 5 },
        })
        for (const key of [over, stored])
          expect(await index.find(ref, key)).to.deep.equal({ original: { state: 'gone' } })

        const sweep = { cause: 'sweep', leaseUntil: NOW + 60, now: NOW + 4 } as const
        expect(await index.beginRemoval(ref, sweep)).to.equal(undefined)
        expect(await index.beginRemoval(ref, { ...sweep, now: NOW + 5 })).to.deep.equal([ahead])
        await index.finishRemoval(ref, NOW + 5)
        expect(await index.find(ref, ahead)).to.deep.equal({})
      })

      it('continue where they stopped, as often as they are begun', async () => {
        await adopted(index, ref)
        await index.finishDerivative(ref, derived(d(ref)))
        for (const leaseUntil of [NOW + 1, NOW + 2, NOW + 3]) {
          const taken = await index.beginRemoval(ref, { cause: 'delete', leaseUntil, now: NOW })
          expect(taken).to.deep.equal([d(ref)])
          expect((await index.find(ref)).original).to.deep.equal({ state: 'going', leaseUntil })
        }
        const finished = await Promise.all([index.finishRemoval(ref, NOW), elsewhere.finishRemoval(ref, NOW)])
        expect(finished.sort(), 'one has finished it').to.deep.equal([false, true])
        expect(await index.find(ref, d(ref))).to.deep.equal({})
      })
    })

    describe('overdue', () => {
      it('returns exactly the entries whose deadline has passed, for every instant', async () => {
        const [pending10, stored, going10] = [newRef(), newRef(), newRef()]
        const [gone20, twoDeadlines, goingWithDeadline] = [newRef(), newRef(), newRef()]
        const refs = [pending10, stored, going10, gone20, twoDeadlines, goingWithDeadline]
        const remove = (each: FileRef, leaseUntil: number) =>
          index.beginRemoval(each, { cause: 'delete', leaseUntil, now: NOW })
        await index.beginUpload(pending10, NOW + 10)
        await adopted(index, stored)
        await index.finishDerivative(stored, derived(d(stored)))
        await adopted(index, going10)
        await remove(going10, NOW + 10)
        await gone(index, gone20, NOW + 20)
        await adopted(index, twoDeadlines)
        const at10 = derivativeKey(twoDeadlines.key, 'at10')
        const at30 = derivativeKey(twoDeadlines.key, 'at30')
        await index.beginDerivative(twoDeadlines, at10, NOW + 10)
        await index.beginDerivative(twoDeadlines, at30, NOW + 30)
        await adopted(index, goingWithDeadline)
        await index.beginDerivative(goingWithDeadline, d(goingWithDeadline), NOW + 10)
        await remove(goingWithDeadline, NOW + 40)

        const fromInstant: Array<[number, string[]]> = [
          [10, [original(pending10), original(going10), derivative(twoDeadlines, at10)]],
          [20, [original(gone20)]],
          [30, [derivative(twoDeadlines, at30)]],
          [40, [original(goingWithDeadline)]],
        ]
        for (const after of [0, 9, 10, 11, 19, 20, 29, 30, 39, 40, 1_000_000]) {
          const found = await overdue(elsewhere, NOW + after, refs)
          const expected = fromInstant.filter(([instant]) => instant <= after).flatMap(([, items]) => items)
          expect(found, `after ${after} ms`).to.deep.equal(expected.sort())
        }
      })

      it('returns a tombstone when the last of its deadlines has passed', async () => {
        await adopted(index, ref)
        for (const after of [10, 20, 30])
          await index.beginDerivative(ref, derivativeKey(ref.key, `at${after}`), NOW + after)
        await index.beginRemoval(ref, { cause: 'delete', leaseUntil: NOW + 5, now: NOW })
        await index.finishRemoval(ref, NOW)
        expect(await overdue(index, NOW + 29, [ref])).to.deep.equal([])
        expect(await overdue(index, NOW + 30, [ref])).to.deep.equal([original(ref)])
      })

      it('returns the deadline of a derivative, which is needed to drop it', async () => {
        await adopted(index, ref)
        await index.beginDerivative(ref, d(ref), NOW - 3)
        const found: Overdue[] = []
        for await (const item of index.overdue(NOW)) if (item.ref.clientId === ref.clientId) found.push(item)
        expect(found).to.deep.equal([{ kind: 'derivative', ref, derivative: d(ref), deadline: NOW - 3 }])
      })

      it('returns no entry that has ended', async () => {
        await index.beginUpload(ref, OVER)
        await index.finishUpload(ref.clientId, [record(ref.key, 'x')])
        await index.beginDerivative(ref, d(ref), OVER)
        await index.finishDerivative(ref, derived(d(ref)))
        const dropped = derivativeKey(ref.key, 'dropped')
        await index.beginDerivative(ref, dropped, OVER)
        await index.dropDerivative(ref, dropped, FOREVER)
        const abandoned = newRef()
        await index.beginUpload(abandoned, OVER)
        await index.beginRemoval(abandoned, { cause: 'abandon', leaseUntil: OVER, now: NOW })
        await index.finishRemoval(abandoned, NOW)
        expect(await overdue(index, NOW + 1000, [ref, abandoned])).to.deep.equal([])
      })

      it('allows entries to be ended while it is read, and can be ended early', async () => {
        const refs = Array.from({ length: 30 }, () => newRef())
        for (const [i, each] of refs.entries()) {
          if (i % 3 === 0) await index.beginUpload(each, OVER)
          if (i % 3 === 1) await gone(index, each, OVER)
          if (i % 3 === 2) {
            await adopted(index, each)
            await index.beginDerivative(each, d(each), OVER)
          }
        }
        const mine = new Set(refs.map(({ clientId }) => clientId))
        const seen: string[] = []
        for await (const item of index.overdue(NOW)) {
          if (!mine.has(item.ref.clientId)) continue
          seen.push(item.kind === 'original' ? original(item.ref) : derivative(item.ref, item.derivative))
          if (item.kind === 'derivative') await index.dropDerivative(item.ref, item.derivative, FOREVER)
          else {
            await index.beginRemoval(item.ref, { cause: 'sweep', leaseUntil: AHEAD, now: NOW })
            await index.finishRemoval(item.ref, NOW)
          }
        }
        expect(seen.sort()).to.deep.equal(
          refs.map((each, i) => (i % 3 === 2 ? derivative(each, d(each)) : original(each))).sort(),
        )
        expect(await overdue(index, NOW + 1000, refs)).to.deep.equal([])
        await index.beginUpload(ref, OVER)
        let given = 0
        for await (const _ of index.overdue(NOW)) {
          given += 1
          break
        }
        expect(given).to.equal(1)
      })
    })

    describe('clients', () => {
      it('with equal keys are separate, even when one ID begins with the other', async () => {
        const ids = [ref.clientId, `${ref.clientId}x`, newRef().clientId]
        const refs = ids.map((clientId) => ({ clientId, key: ref.key })) as [FileRef, FileRef, FileRef]
        const [first, second, third] = refs
        await adopted(index, first)
        await index.finishDerivative(first, derived(d(first)))
        expect(await index.find(second, d(first))).to.deep.equal({})
        await index.beginUpload(second, OVER)
        await gone(index, third, AHEAD)
        expect(await Promise.all(refs.map((each) => shown(index, each)))).to.deep.equal([
          'stored [stored]',
          'pending+0',
          'gone [pending+1]',
        ])
        expect(await overdue(index, NOW, refs)).to.deep.equal([original(second)])
        await index.beginRemoval(first, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
        await index.finishRemoval(first, NOW)
        expect(await Promise.all(refs.map((each) => shown(index, each)))).to.deep.equal([
          'unknown',
          'pending+0',
          'gone [pending+1]',
        ])
      })

      it('have keys with any unusual character, and originals in folders that look like others', async () => {
        const base = `text/txt/${ref.key.slice(-26)}`
        const keys = [
          'a b',
          'x/a:b',
          'a|b',
          'a{b}',
          'a*',
          '日本語',
          '🎉',
          'o',
          'd',
          'u',
          base,
          `${base}_w=1`,
          '',
        ]
        const refs = keys.map((folder) => ({
          clientId: ref.clientId,
          key: storedKey(folder ? `${folder}/${base}` : base),
        }))
        for (const each of refs) {
          await adopted(index, each)
          await index.beginDerivative(each, d(each), OVER)
        }
        const expected = refs.map((each) => derivative(each, d(each))).sort()
        expect(await overdue(index, NOW, refs)).to.deep.equal(expected)
        for (const each of refs) {
          const taken = await index.beginRemoval(each, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
          expect(taken).to.deep.equal([d(each)])
        }
      })
    })

    describe('concurrent calls for one key', () => {
      const both = () => [index, elsewhere] as const

      it('begin one of 50 uploads', async () => {
        const outcomes = await Promise.all(
          range(50).map((i) =>
            ofTwo(both(), i)
              .beginUpload(ref, NOW + i)
              .then(
                () => i,
                () => undefined,
              ),
          ),
        )
        const winners = outcomes.filter((i) => i !== undefined)
        expect(winners).to.have.length(1)
        expect((await index.find(ref)).original).to.deep.equal({
          state: 'pending',
          leaseUntil: NOW + (winners[0] ?? 0),
        })
      })

      it('keep the files of the first of 50 to finish, in any order of their files', async () => {
        const refs = newRefs(ref.clientId, 4)
        for (const each of refs) await index.beginUpload(each, AHEAD)
        const outcomes = await Promise.all(
          range(50).map((i) => {
            const turned = [...refs.slice(i % 4), ...refs.slice(0, i % 4)]
            return ofTwo(both(), i).finishUpload(
              ref.clientId,
              turned.map(({ key }) => record(key, `by ${i}`)),
            )
          }),
        )
        expect(outcomes.every(Boolean)).to.equal(true)
        const found = await Promise.all(
          refs.map(async (each) => (await index.find(each)).original as { record: OriginalRecord }),
        )
        const by = found[0]?.record.originalName ?? ''
        expect(by).to.match(/^by \d+$/)
        expect(found).to.deep.equal(refs.map(({ key }) => ({ state: 'stored', record: record(key, by) })))
      })

      it('finish an upload completely or not at all while its files are abandoned', async () => {
        for (const round of range(20)) {
          const refs = newRefs(ref.clientId, 3)
          for (const each of refs) await index.beginUpload(each, AHEAD)
          const finish = () =>
            index.finishUpload(
              ref.clientId,
              refs.map(({ key }) => record(key, 'x')),
            )
          const abandon = () => beginRemoval(elsewhere, refs[round % 3] as FileRef, 'abandon')
          const [finished, abandoned] =
            round % 2 === 0
              ? await Promise.all([finish(), abandon()])
              : await Promise.all([abandon(), finish()]).then(([one, other]) => [other, one] as const)
          expect(abandoned).to.equal(finished ? 'refused' : 'takes nothing')
          const states = await Promise.all(refs.map(async (each) => (await index.find(each)).original?.state))
          expect(states).to.deep.equal(
            refs.map((_, i) => (finished ? 'stored' : i === round % 3 ? 'going' : 'pending')),
          )
        }
      })

      it('give the same result to 50 callers of adopt', async () => {
        const entries = await Promise.all(
          range(50).map((i) => ofTwo(both(), i).adopt(ref.clientId, record(ref.key, `by ${i}`))),
        )
        for (const entry of entries) expect(entry).to.deep.equal(entries[0])
        expect((await index.find(ref)).original).to.deep.equal(entries[0])
      })

      it('give an overdue entry to one of 50 sweeps', async () => {
        await index.beginUpload(ref, OVER)
        const taken = await Promise.all(range(50).map((i) => beginRemoval(ofTwo(both(), i), ref, 'sweep')))
        expect(taken.filter((outcome) => outcome !== 'refused')).to.have.length(1)
      })

      it('leave no entry of 25 derivatives that finish during 25 deletes', async () => {
        const random = seededRandom(seed)
        for (const round of range(sized(4, 10))) {
          const each = newRef()
          await adopted(index, each)
          await Promise.all(
            range(50).map(async (i) => {
              const one = ofTwo(both(), i)
              await turns(random.below(20))
              if (i % 2 === 0) return derive(one, each, derivativeKey(each.key, `w=${i}`), random)
              const taken = await one.beginRemoval(each, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
              await turns(random.below(20))
              if (taken) await one.finishRemoval(each, NOW)
            }),
          )
          const left = await Promise.all(
            range(50).map((i) => index.find(each, derivativeKey(each.key, `w=${i}`))),
          )
          expect(left, `round ${round}`).to.deep.equal(range(50).map(() => ({})))
          expect(await overdue(index, NOW + 1e9, [each])).to.deep.equal([])
        }
      })
    })

    if (steps === 0) return
    it(`equals a map in memory over ${steps} random steps (seed ${seed})`, async function () {
      this.timeout(300_000)
      // Numbers of its own: each index gets the same steps, however often the model reads.
      const processes = seededRandom(seed + 1)
      const open = () => processes.oneOf([index, elsewhere])
      await compareWithModel({ open, steps, random: seededRandom(seed) })
    })
  })
}

/** What a transform does: begins, works, and takes its entry away when the original was deleted in the meantime. */
async function derive(index: FileIndex, ref: FileRef, key: ObjectKey, random: Random): Promise<void> {
  if ((await index.beginDerivative(ref, key, AHEAD)) !== 'begun') return
  await turns(random.below(20))
  if (!(await index.finishDerivative(ref, derived(key)))) await index.dropDerivative(ref, key, FOREVER)
}

/** What is overdue of these originals, sorted. */
async function overdue(index: FileIndex, now: number, refs: readonly FileRef[]): Promise<string[]> {
  const mine = new Set(refs.map(original))
  const items: Overdue[] = []
  for await (const item of index.overdue(now)) items.push(item)
  return items
    .filter(({ ref }) => mine.has(original(ref)))
    .map((item) => (item.kind === 'original' ? original(item.ref) : derivative(item.ref, item.derivative)))
    .sort()
}

function original({ clientId, key }: FileRef): string {
  return `${clientId} ${key}`
}

function derivative(ref: FileRef, key: ObjectKey): string {
  return `${original(ref)} ${key}`
}

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i)
}

function ofTwo<T>([first, second]: readonly [T, T], i: number): T {
  return i % 2 === 0 ? first : second
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await null
}
