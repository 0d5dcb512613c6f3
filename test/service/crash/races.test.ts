import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import type { Storage } from '../../../src/app.ts'
import { derivativeKey, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { onTwoOrEveryBackend } from '../../support/backends.ts'
import { pluginFolder, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, rawPath, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { usuallyOnce } from '../../support/sized.ts'
import { derivationsOn, deriveRequestFor } from '../../support/stored/derivations.ts'
import { settled } from '../../support/stored/settled.ts'
import { storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onTwoOrEveryBackend('races', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)

  itUsuallyOnce('emits original.deleted once for two concurrent deletes', async () => {
    const folder = await temporaryFolder()
    const events = join(folder, 'events')
    const plugins = await pluginFolder({ 'recorder.js': recorder(events) })
    // Both are past the beginning before either comes to the end.
    let begun = 0
    const wrapStorage = ({ index, buckets }: Storage): Storage => ({
      buckets,
      index: {
        ...index,
        async beginRemoval(ref, options) {
          const keys = await index.beginRemoval(ref, options)
          begun += 1
          await eventually(() => expect(begun).to.be.at.least(2))
          return keys
        },
      },
    })
    const service = await start({ env: { PLUGINS_DIR: plugins }, wrapStorage })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const answers = await Promise.all([1, 2].map(() => deleteFile(service, record.s3PathOriginal)))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200])
    await service.stop()
    const told = (await recorded(events)).filter(({ name }) => name === 'original.deleted')
    expect(told).to.have.length(1)
    for (const path of [folder, plugins]) await rm(path, { recursive: true })
  })

  itUsuallyOnce('does not index a lost derivative that another process is rendering again', async () => {
    let looksTooEarly = false
    const wrapStorage = ({ index, buckets }: Storage): Storage => ({
      buckets,
      index: {
        ...index,
        async find(ref, derivative) {
          const { original, ...rest } = await index.find(ref, derivative)
          return { ...(original ? { original } : {}), ...(looksTooEarly ? {} : rest) }
        },
      },
    })
    const service = await start({ wrapStorage })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await exchange(service, `${record.src}?w=10`)
    await settled(service)
    const { index } = service.storage
    const ref = { clientId: 'first', key: storedKey(record.s3PathOriginal) }
    const derivative = derivativeKey(ref.key, 'w=10')
    await index.beginDerivative(ref, derivative, Date.now() + 60_000)
    looksTooEarly = true
    expect((await exchange(service, rawPath(service, derivative))).status).to.equal(404)
    expect((await index.find(ref, derivative)).derivative?.state).to.equal('pending')
  })

  it('leaves no part of a lost original that one request indexes while another deletes it', async () => {
    const dataDir = await temporaryFolder()
    const first = await start({ dataDir })
    const { s3PathOriginal, src } = await uploadOne(first, { name: 'a.png', bytes: await picture() })
    await first.stop({ keepData: true })
    await backend.emptyIndex(dataDir)

    const key = storedKey(s3PathOriginal)
    const wrapStorage = ({ index, buckets }: Storage): Storage => ({
      buckets,
      index: {
        ...index,
        async adopt(clientId, record) {
          // The other's delete, from its beginning to its end.
          await buckets.of({ id: clientId, token: '' }).delete([key, recordKey(key)])
          return index.adopt(clientId, record)
        },
      },
    })
    const second = await start({ dataDir, wrapStorage })
    // While the bucket is too slow to be asked in time, a read takes what the bucket alone says.
    const read = async () => expect((await fetch(second.url + new URL(src).pathname)).status).to.equal(404)
    await eventually(read)
    expect((await deleteFile(second, s3PathOriginal)).status).to.equal(404)
    await second.stop({ keepData: true })
    expect(await backend.state(dataDir)).to.deep.equal({ files: [], rows: [] })
    await rm(dataDir, { recursive: true })
  })

  itUsuallyOnce(
    'does not render a derivative again that another process has stored since the lookup',
    async () => {
      const service = await start()
      const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      const request = await deriveRequestFor(service, record)
      let runs = 0
      // Two processes' worth of derivations: each with flights of its own, on the same locks, index and bucket.
      const locks = inProcessLocks()
      const [one, two] = [1, 2].map(() =>
        derivationsOn(service, {
          locks,
          async run(_plan, source) {
            runs += 1
            return source
          },
        }),
      )
      const answers = await Promise.all([one?.derive(request), two?.derive(request)])
      await one?.idle()
      answers.push(await two?.derive(request))
      expect(answers.map((asset) => asset?.size)).to.deep.equal([record.size, record.size, record.size])
      expect(runs).to.equal(1)
    },
  )

  it('waits for a transformation whose only client has disconnected before it closes the index', async () => {
    const watched = watchedEngine()
    const dataDir = await temporaryFolder()
    const service = await start({ dataDir, engines: [watched.engine] })
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    // It continues for a while after it was aborted, as an encoder does.
    watched.hold()
    const leaving = new AbortController()
    const left = fetch(`${src}?w=10`, { signal: leaving.signal }).catch(() => 'left')
    await eventually(() => expect(watched.opened).to.equal(1))
    leaving.abort()
    expect(await left).to.equal('left')
    await service.stop({ keepData: true })
    const warnings = service.log.lines.filter(({ level, fields }) => level === 'warn' && !('file' in fields))
    expect(warnings, 'but for the new secret').to.deep.equal([])
    expect(await backend.state(dataDir)).to.deep.equal(storedState('first', { [s3PathOriginal]: [] }))
    await rm(dataDir, { recursive: true })
  })
})
