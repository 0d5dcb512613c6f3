import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { type Browser, firstOwner } from '../../support/console/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { sluice } from '../../support/programs/sluice.ts'
import { ADMIN_PASSWORD, postSignIn } from '../../support/requests/admin.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import { metadata, OFFSET_STREAM, TUS } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'

const FIRST = { 'Sluice-Client': 'first' }

interface Entry {
  action: string
  target?: string
  client?: string
  address: string
  member: { id: string; name: string } | null
  details?: Record<string, unknown>
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** The fields of the audit log's lines, the first one first. */
function entriesOf({ log }: Service): Entry[] {
  return log.lines
    .filter(({ message }) => message === 'audit')
    .map(({ fields }) => fields as unknown as Entry)
}

const changesOf = (service: Service) =>
  entriesOf(service)
    .filter(({ action }) => !/^(session|member)\./.test(action))
    .map(({ action, target, details }) => [action, target, ...(details ? [details] : [])])

onOneBackend('the audit log of changes', (start) => {
  it('has uploads of each kind, with their files', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const text = { ...FIRST, 'Content-Type': 'text/plain' }
    const [raw] = (await owner.send('PUT', '/v1/upload/a.txt', 'text', text)).json
    const parts = ['b.txt', 'c.txt'].map((filename) => ({
      disposition: `name="file"; filename="${filename}"`,
      bytes: filename,
    }))
    const form = await owner.send('POST', '/v1/upload', multipart(parts).toString('latin1'), {
      ...FIRST,
      'Content-Type': MULTIPART,
    })
    const begun = await owner.send('POST', '/v1/tus', undefined, {
      ...FIRST,
      ...TUS,
      'Upload-Length': '4',
      ...metadata({ filename: 'd.txt' }),
    })
    const address = new URL(String(begun.headers.get('location'))).pathname
    for (const [offset, body] of [
      ['0', 'te'],
      ['2', 'xt'],
    ] as const)
      await owner.send('PATCH', address, body, {
        ...FIRST,
        ...TUS,
        ...OFFSET_STREAM,
        'Upload-Offset': offset,
      })
    const [resumable] = (await owner.send('GET', address, undefined, { ...FIRST, ...TUS })).json
    const whole = await owner.send('POST', '/v1/tus', 'text', {
      ...FIRST,
      ...TUS,
      ...OFFSET_STREAM,
      'Upload-Length': '4',
    })
    expect(whole.status).to.equal(201)
    const [inOne] = JSON.parse(String(whole.headers.get('upload-record')))
    expect(changesOf(service)).to.deep.equal([
      ['file.upload', raw.s3PathOriginal, { files: 1 }],
      ['file.upload', form.json[0].s3PathOriginal, { files: 2 }],
      ['file.upload', resumable.s3PathOriginal, { files: 1 }],
      ['file.upload', inOne.s3PathOriginal, { files: 1 }],
    ])
    expect(entriesOf(service).at(-1)).to.deep.include({ client: 'first', address: '127.0.0.1' })
  })

  it('has upload links', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const { json } = await owner.send('GET', '/v1/sign/shop/new?expirationIn=60', undefined, FIRST)
    await owner.send('GET', '/v1/sign/_?expirationIn=60', undefined, FIRST)
    await owner.send('POST', '/v1/sign', { folder: 'shop', expiresIn: 60 }, FIRST)
    await owner.send('GET', '/v1/sign/_?expirationIn=0', undefined, FIRST)
    const changes = changesOf(service)
    expect(changes.map(([action, target]) => [action, target])).to.deep.equal([
      ['link.create', 'shop/new'],
      ['link.create', undefined],
      ['link.create', 'shop'],
    ])
    expect(changes[0]?.[2]).to.deep.equal({ expiresAt: json.expiresAt })
  })

  it('has sign-ins of the operator over the API', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    await postSignIn(service, { password: ADMIN_PASSWORD })
    await postSignIn(service, { password: 'not the password' })
    await postSignIn(service, { password: 1 })
    expect(entriesOf(service).map(({ action, member }) => [action, member?.id])).to.deep.equal([
      ['session.sign-in', 'operator'],
      ['session.refuse', undefined],
    ])
  })

  it('has changes by the command line', async () => {
    const service = await start()
    const env = { DATA_DIR: service.dataDir }
    const { code, stdout } = await sluice(['client', 'create', '--name', 'Shop', '--json'], env)
    expect(code).to.equal(0)
    const { id } = JSON.parse(stdout)
    for (const args of [
      ['client', 'set', id, '--variant-limit', '7'],
      ['client', 'secret', 'add', id, '--json'],
      ['client', 'key', 'add', id],
      ['client', 'rotate', id],
      ['client', 'list'],
      ['client', 'show', 'unknown'],
      ['client', 'rotate', 'unknown'],
      ['client', 'remove', id],
    ])
      await sluice(args, env)
    const by = { address: 'command line', member: null, client: id, target: id }
    expect(entriesOf(service)).to.deep.equal(
      [
        'client.create',
        'client.update',
        'secret.create',
        'url-key.create',
        'secret.rotate',
        'client.delete',
      ].map((action) => ({ ...by, action })),
    )
  })

  describe('when the client disconnects', () => {
    /** Whether the next put or delete of the bucket waits, and what ends that. */
    let held: { reached: () => void; released: Promise<void> } | undefined
    let service: Service
    let owner: Browser

    before(async () => {
      const hold = async () => {
        const now = held
        held = undefined
        now?.reached()
        await now?.released
      }
      service = await start({
        wrapStorage: wrapBuckets((bucket) => ({
          put: async (...args) => {
            await hold()
            return bucket.put(...args)
          },
          delete: async (...args) => {
            await hold()
            return bucket.delete(...args)
          },
        })),
      })
      owner = await firstOwner(service)
    })

    async function uploaded(): Promise<string> {
      const text = { ...FIRST, 'Content-Type': 'text/plain' }
      return (await owner.send('PUT', '/v1/upload/a.txt', 'text', text)).json[0].s3PathOriginal
    }

    /** Sends a request, disconnects while the bucket is in use, and lets it continue then. */
    async function leave(method: string, target: string, body: object | undefined): Promise<void> {
      const reached = deferred()
      const released = deferred()
      held = { reached: () => reached.resolve(), released: released.promise }
      const left = new AbortController()
      const sent = exchange(service, target, {
        method,
        signal: left.signal,
        headers: {
          ...FIRST,
          'Sluice-Console': '1',
          Cookie: owner.cookie,
          ...(body ? { 'Content-Type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }).catch(() => {})
      await reached.promise
      left.abort()
      await sent
      released.resolve()
    }

    it('has a change that was made nonetheless', async () => {
      await leave('PATCH', '/v1/clients/first', { name: 'Shop' })
      const change = ['client.update', 'first', { changed: 'name' }]
      await eventually(() => expect(changesOf(service).at(-1)).to.deep.equal(change))
      expect(entriesOf(service).at(-1)).to.deep.include({ address: '127.0.0.1', client: 'first' })
    })

    it('has one that was interrupted', async () => {
      const path = await uploaded()
      const paths = Array.from({ length: 30 }, (_, i) => `none-${i}.txt`)
      paths.unshift(await uploaded())
      await leave('POST', '/v1/files/delete', { paths })
      await eventually(() => {
        const [action, , details] = changesOf(service).at(-1) ?? []
        expect([action, details]).to.deep.equal(['file.delete', { outcome: 'interrupted' }])
      })
      await leave('PATCH', `/v1/files/${path}`, { tags: ['new'] })
      const change = ['file.update', path, { outcome: 'interrupted' }]
      await eventually(() => expect(changesOf(service).at(-1)).to.deep.equal(change))
    })
  })
})
