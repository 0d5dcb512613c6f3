import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { newFileId, newOriginal, type ObjectKey } from '../../../src/core/files/object-key.ts'
import type { Size } from '../../../src/core/geometry/box.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { createPlanner, type PlanInput } from '../../../src/pipeline/plan/plan.ts'
import type { DeliveryRequest } from '../../../src/service/delivery/deliveries.ts'
import { createFilePlans } from '../../../src/service/delivery/find-planned.ts'
import type { KnownSize } from '../../../src/service/delivery/original-sizes.ts'
import { createScanQueue } from '../../../src/service/scans/scan-queue.ts'
import { loadWith } from '../../pipeline/load/drop-ins.ts'
import { rejection } from '../../support/rejection.ts'

const client: Client = { id: 'first', token: 'pub_first', secrets: [], createdAt: 0 }
const name = newOriginal({ folder: '', format: knownFormat('png'), id: newFileId() })
const record = {
  key: name.key,
  originalName: 'a.png',
  mediaType: 'image/png',
  size: 1,
  sha256: 'new',
  storedAt: 0,
}

describe('the plan for a file', () => {
  let known: KnownSize | undefined
  let inHeader: (() => Size | undefined) | undefined
  let stored: readonly string[]
  let reads: string[]
  let find: (w: number) => Promise<string | undefined>
  let inputs: PlanInput[]
  beforeEach(async () => {
    inputs = []
    const plan = createPlanner((await loadWith({})).transforms, [])
    known = undefined
    inHeader = undefined
    stored = []
    reads = []
    const plans = createFilePlans({
      scans: createScanQueue({ jobs: undefined }),
      originals: {
        async findToRead(_client, found, derivative = '' as ObjectKey) {
          const variant = derivative.slice(name.key.length + 1)
          reads.push(variant)
          const entry = { state: 'stored', record: {} } as never
          const indexed = stored.includes(variant) ? { derivative: entry } : {}
          return { name: found, record, indexed }
        },
      },
      sizes: {
        known: () => known,
        async read() {
          if (!inHeader) throw new Error('the header is not needed')
          return inHeader()
        },
      },
      plan(input) {
        inputs.push(input)
        return plan(input)
      },
    })
    const request = {
      client,
      group: 'image',
      path: name.key,
      preferences: { encoding: 'br' },
    } as unknown as DeliveryRequest
    find = async (w) => (await plans.find({ ...request, query: [['w', String(w)]] })).key?.split('_').pop()
  })

  it('depends on no encoding, so that plans are not cached once for each', async () => {
    stored = ['w=300']
    await find(300)
    expect(inputs.map(({ preferences }) => preferences)).to.deep.equal([{}])
  })

  it('needs one read of the index when the size is known', async () => {
    known = { sha256: 'new', size: { width: 400, height: 300 } }
    inHeader = () => known?.size
    expect(await find(5000)).to.equal('w=400')
    expect(await find(300)).to.equal('w=300')
    expect(reads).to.deep.equal(['w=400', 'w=300'])
  })

  it('reads the header before a new derivative, and the index again when the image is smaller', async () => {
    inHeader = () => ({ width: 400, height: 300 })
    expect(await find(300)).to.equal('w=300')
    expect(await find(5000)).to.equal('w=400')
    expect(reads).to.deep.equal(['w=300', 'w=5000', 'w=400'])
  })

  it('reads no header for a stored derivative', async () => {
    stored = ['w=300']
    expect(await find(300)).to.equal('w=300')
  })

  it('keeps the width of an image whose header has no size', async () => {
    inHeader = () => undefined
    expect(await find(5000)).to.equal('w=5000')
  })

  it('does not use the size of a deleted file with the same key', async () => {
    known = { sha256: 'old', size: { width: 100, height: 75 } }
    stored = ['w=100']
    inHeader = () => ({ width: 400, height: 300 })
    expect(await find(5000)).to.equal('w=400')
    expect(await find(300)).to.equal('w=300')
  })

  it('fails when the header cannot be read now: it would name another derivative later', async () => {
    inHeader = () => {
      throw unavailable('too many headers are being read')
    }
    expect(await rejection(find(5000))).to.include({ status: 503 })
  })
})
