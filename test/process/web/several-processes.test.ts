import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { pluginFolder, recorded, recorder, slow } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { corrupted, picture } from '../../support/media/images.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { type Caller, deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange } from '../../support/requests/exchange.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import type { RunningServer } from '../../support/servers/process.ts'
import { itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const CRASHING = [await builtScript('crash-server')]
/** A process, or a service in this process. */
type Member = Caller & { pid: number }

// Of an upload or a delete: what a dead process keeps others waiting at most.
const LEASE_MS = 60_000

for (const files of sized(['disk'] as const, ['disk', 'S3'] as const)) {
  describe(`two web processes on one Redis and ${files}`, function () {
    this.timeout(120_000)
    let folder: string
    let fleet: Fleet
    let one: Member
    let two: RunningServer
    before(async () => {
      folder = await temporaryFolder()
      const plugins = await pluginFolder({
        'slow.js': slow(join(folder, 'transforms')),
        'recorder.js': recorder(join(folder, 'events')),
      })
      fleet = await newFleet({ files, env: { PLUGINS_DIR: plugins, LOG_LEVEL: 'error' } })
      const inThisProcess = async () => ({ ...(await fleet.service()), pid: process.pid })
      const startOne = sized<() => Promise<Member>>(inThisProcess, fleet.start)
      ;[one, two] = await Promise.all([startOne(), fleet.start()])
    })
    after(async () => {
      await fleet.end()
      for (const path of [folder, fleet.env.PLUGINS_DIR ?? '']) await rm(path, { recursive: true })
    })
    beforeEach(async () => {
      for (const file of ['transforms', 'events']) await writeFile(join(folder, file), '')
    })

    /** The processes that have made something since this test began, in order. */
    const transforms = async () =>
      (await readFile(join(folder, 'transforms'), 'utf8')).split('\n').filter(Boolean).map(Number)
    const events = async (name: string) =>
      (await recorded(join(folder, 'events'))).filter((each) => each.name === name)
    const get = (server: Member, { src }: WireRecord, query: string, signal?: AbortSignal) =>
      exchange(server, `${new URL(src).pathname}?${query}`, signal ? { signal } : {})
    const nothingIsLeft = () =>
      eventually(async () => expect(await fleet.state()).to.deep.equal({ files: [], rows: [] }))

    // Covers the moments at which a delete may arrive, from the first transform to the last; with the full size many times.
    const rounds = files === 'S3' ? 50 : sized(2, 5)
    it(`leave no part of a file that is deleted during twenty transformations of it, ${rounds} times in a row`, async () => {
      const bytes = await picture({ width: 40, height: 30 })
      for (let round = 0; round < rounds; round += 1) {
        await writeFile(join(folder, 'transforms'), '')
        const [here, there] = round % 2 ? [one, two] : [two, one]
        const record = await uploadOne(here, { name: 'a.png', bytes })
        const asked = Array.from({ length: 20 }, (_, i) =>
          get(i % 2 ? here : there, record, `w=${i + 1}&slow=${(i * 7) % 40}`),
        )
        const begun = 1 + Math.floor((18 * round) / rounds)
        await eventually(async () => expect(await transforms()).to.have.length.at.least(begun))
        expect((await deleteFile(there, record.s3PathOriginal)).status).to.equal(200)
        const statuses = (await Promise.all(asked)).map(({ status }) => status)
        expect(statuses.filter((status) => status !== 200 && status !== 404)).to.deep.equal([])
        expect((await get(here, record, '')).status).to.equal(404)
        await nothingIsLeft()
      }
      expect(await events('original.deleted')).to.have.length(rounds)
    })

    // Which process does the work is a matter of Redis alone.
    if (files === 'S3') return

    it('render one derivative for fifty equal requests', async () => {
      const record = await uploadOne(one, { name: 'a.png', bytes: await picture() })
      const asked = Array.from({ length: 50 }, (_, i) => get(i % 2 ? one : two, record, 'w=40&slow=1000'))
      const answers = await Promise.all(asked)
      for (const { status, body } of answers) {
        expect(status).to.equal(200)
        expect(body.equals(answers[0]?.body ?? Buffer.alloc(0))).to.equal(true)
      }
      expect(await transforms()).to.have.length(1)
      await eventually(async () => expect(await events('derivative.stored')).to.have.length(1))
      await deleteFile(two, record.s3PathOriginal)
      await nothingIsLeft()
    })

    itLong('decode a broken file once for all waiting requests', async () => {
      const bytes = corrupted(await picture({ width: 1200, height: 900 }))
      const record = await uploadOne(one, { name: 'a.png', bytes })
      const asked = Array.from({ length: 50 }, (_, i) => get(i % 2 ? one : two, record, 'w=40&slow=1000'))
      const answers = await Promise.all(asked)
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([422]))
      expect(new Set(answers.map(detail)).size).to.equal(1)
      expect(await transforms()).to.have.length(1)
      await eventually(async () => expect(await events('derivative.failed')).to.have.length(1))
      await deleteFile(two, record.s3PathOriginal)
      await nothingIsLeft()
    })

    for (const { clients, waitingFor } of [
      {
        clients: 'the first client disconnects while others wait in both processes',
        waitingFor: () => [one, two, two],
      },
      {
        clients: 'all clients of the working process disconnect while others wait in the other one',
        waitingFor: () => [two, two],
      },
    ])
      itLong(`continue when ${clients}`, async () => {
        const record = await uploadOne(one, { name: 'a.png', bytes: await picture() })
        const leaving = new AbortController()
        const first = get(one, record, 'w=40&slow=3000', leaving.signal).catch(() => 'left')
        await eventually(async () => expect(await transforms()).to.deep.equal([one.pid]))
        const others = waitingFor().map((server) => get(server, record, 'w=40&slow=3000'))
        await eventually(async () => expect(await fleet.waiting()).to.equal(1))
        leaving.abort()
        expect(await first).to.equal('left')
        for (const { status } of await Promise.all(others)) expect(status).to.equal(200)
        expect(await transforms()).to.deep.equal([one.pid])
        await deleteFile(two, record.s3PathOriginal)
        await nothingIsLeft()
      })

    it('complete the delete of a killed process, when its lease has expired and not before', async () => {
      const crashing = await fleet.start({
        script: CRASHING,
        env: { CRASH_AT: 'after bucket.delete original' },
      })
      const record = await uploadOne(one, { name: 'a.png', bytes: await picture() })
      expect((await get(one, record, 'w=40')).status).to.equal(200)
      await deleteFile(crashing, record.s3PathOriginal).catch(() => {})
      expect(await crashing.ended).to.equal('SIGKILL')
      expect((await get(two, record, '')).status).to.equal(404)

      // Half of it is left for a machine that is slow to come here.
      await fleet.sweptLater(LEASE_MS / 2)
      expect((await fleet.state()).rows).to.include(`o first ${record.s3PathOriginal} going`)
      // What a process does at its sweep in a minute, which is the second of the two that a delete may take.
      await fleet.sweptLater(LEASE_MS)
      await nothingIsLeft()
    })

    itLong(
      'wait no longer than the lease for a process that was killed during a transformation',
      async () => {
        const stuck = await fleet.start({ env: { STUCK: '1' } })
        const record = await uploadOne(one, { name: 'a.png', bytes: await picture() })
        const first = get(stuck, record, 'w=40&slow=0').catch(() => 'cut off')
        await eventually(async () => expect(await transforms()).to.deep.equal([stuck.pid]))
        const waiting = [one, two, two].map((server) => get(server, record, 'w=40&slow=0'))
        await eventually(async () => expect(await fleet.waiting()).to.equal(2))
        process.kill(stuck.pid, 'SIGKILL')
        expect(await first).to.equal('cut off')
        // No other caller waits.
        expect((await get(one, record, 'w=30&slow=0')).status).to.equal(200)
        for (const { status } of await Promise.all(waiting)) expect(status).to.equal(200)
        expect(await transforms()).to.have.length(3)
        await deleteFile(two, record.s3PathOriginal)
        await nothingIsLeft()
      },
    )
  })
}

function detail({ body }: Answer): unknown {
  return JSON.parse(body.toString('utf8')).detail
}
