import { expect } from 'chai'
import { derivativePrefix, type ObjectKey, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { listOf } from '../../contracts/file-index/file-index-model.ts'
import { onTwoOrEveryBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { sized, usuallyOnce } from '../../support/sized.ts'
import { settled } from '../../support/stored/settled.ts'

const ROUNDS = sized(2, 5)
const FILES = sized(4, 12)

onTwoOrEveryBackend('check and reindex during a live service', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  /** What comes between, once: just before this step of the storage. */
  let between: { step: string; work: () => Promise<unknown> } | undefined

  async function stepTo(step: string): Promise<void> {
    if (between?.step !== step) return
    const { work } = between
    between = undefined
    await work()
  }

  before(async () => {
    png = await picture()
    service = await start({
      wrapStorage: ({ buckets, index }) => ({
        buckets: {
          ...buckets,
          of(client) {
            const bucket = buckets.of(client)
            return {
              ...bucket,
              async find(key, known) {
                await stepTo(`bucket.find ${key}`)
                const asset = await bucket.find(key, known)
                return (
                  asset && {
                    ...asset,
                    async open(options) {
                      await stepTo(`bucket.open ${key}`)
                      return asset.open(options)
                    },
                  }
                )
              },
              async delete(keys) {
                await stepTo(`bucket.delete ${keys[0]}`)
                return bucket.delete(keys)
              },
            }
          },
        },
        index: {
          ...index,
          async find(ref, derivative) {
            await stepTo(`index.find ${ref.key}`)
            return index.find(ref, derivative)
          },
          async adoptDerivative(ref, record) {
            await stepTo('index.adoptDerivative')
            return index.adoptDerivative(ref, record)
          },
        },
      }),
    })
  })

  async function upload(): Promise<{ key: ObjectKey; path: string }> {
    const { s3PathOriginal, src } = await uploadOne(service, { name: 'a.png', bytes: png })
    return { key: storedKey(s3PathOriginal), path: new URL(src).pathname }
  }

  async function transform(path: string, width: number): Promise<void> {
    const response = await fetch(`${service.url}${path}?w=${width}`)
    await response.arrayBuffer()
  }

  async function forget(key: ObjectKey): Promise<void> {
    const ref = { clientId: 'first', key }
    await service.storage.index.beginRemoval(ref, { cause: 'delete', leaseUntil: 0, now: 0 })
    await service.storage.index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    // An index that has lost steps was not compared since.
    await service.storage.index.noteCompared('another run')
  }

  async function expectNothingOf(key: ObjectKey): Promise<void> {
    expect((await service.storage.index.find({ clientId: 'first', key })).original).to.equal(undefined)
    const objects = await service.objects()
    const own = [`first/${key}`, `first/${recordKey(key)}`]
    expect(
      objects.filter((name) => own.includes(name) || name.startsWith(`first/${derivativePrefix(key)}`)),
    ).to.deep.equal([])
  }

  it('report nothing while files are uploaded, transformed and deleted', async () => {
    let working = true
    const traffic = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const files = await Promise.all(Array.from({ length: FILES }, upload))
        await Promise.all(files.map(({ path }, i) => transform(path, 10 + i)))
        await Promise.all(files.map(({ key }) => deleteFile(service, key)))
      }
      working = false
    }
    const checking = async () => {
      const findings: string[] = []
      while (working)
        for (const name of ['check', 'reindex']) findings.push(...(await command(service, name)).findings)
      return findings
    }
    const [findings] = await Promise.all([checking(), traffic()])
    expect(findings).to.deep.equal([])
    await settled(service)
    expect(await service.objects()).to.deep.equal([])
    expect(await listOf(service.storage.index)).to.deep.equal({})
  })

  itUsuallyOnce('report an original as deleted whose record disappears before it is read', async () => {
    const { key } = await upload()
    between = { step: `bucket.open ${recordKey(key)}`, work: () => deleteFile(service, key) }
    expect((await command(service, 'check')).findings).to.deep.equal([])
    expect(between).to.equal(undefined)
  })

  itUsuallyOnce('restore nothing that is deleted while the index is filled', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const files = await Promise.all(Array.from({ length: FILES }, upload))
      await Promise.all(files.map(({ path }) => transform(path, 20)))
      await settled(service)
      for (const { key } of files) await forget(key)
      await Promise.all([
        command(service, 'reindex'),
        ...files.map(async ({ key }, i) => {
          await new Promise((done) => setTimeout(done, i * 3))
          expect((await deleteFile(service, key)).status).to.equal(200)
        }),
      ])
      for (const { key } of files) await expectNothingOf(key)
    }
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('leave no derivative when the index is filled in the middle of a delete', async () => {
    const { key, path } = await upload()
    await transform(path, 25)
    await settled(service)
    await forget(key)
    between = { step: `bucket.delete ${key}`, work: () => command(service, 'reindex') }
    expect((await deleteFile(service, key)).status).to.equal(200)
    expect(between).to.equal(undefined)
    await expectNothingOf(key)
  })

  it('index no derivative whose original is deleted between the check and the write', async () => {
    const { key, path } = await upload()
    await transform(path, 30)
    await settled(service)
    await forget(key)
    await expectNoFinding('reindex', { step: 'index.adoptDerivative', work: () => deleteFile(service, key) })
    await expectNothingOf(key)
  })

  async function expectNoFinding(name: string, interruption: NonNullable<typeof between>): Promise<void> {
    between = interruption
    const { findings } = await command(service, name)
    expect(between, 'it came to that step').to.equal(undefined)
    expect(findings).to.deep.equal([])
  }

  for (const name of ['check', 'reindex'])
    itUsuallyOnce(`${name}: an original that is deleted after it was listed is no finding`, async () => {
      const { key } = await upload()
      await expectNoFinding(name, { step: `index.find ${key}`, work: () => deleteFile(service, key) })
    })

  itUsuallyOnce('check: an original that is indexed while it is suspected is no finding', async () => {
    const { key, path } = await upload()
    await forget(key)
    const work = () => fetch(`${service.url}${path}`).then((response) => response.arrayBuffer())
    await expectNoFinding('check', { step: `bucket.find ${recordKey(key)}`, work })
    await deleteFile(service, key)
  })

  itUsuallyOnce('check: an entry that is deleted after it was listed is no finding', async () => {
    const { key } = await upload()
    await expectNoFinding('check', { step: `bucket.find ${key}`, work: () => deleteFile(service, key) })
  })
})
