import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { onTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { pluginFolder, recorded, recorder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { usuallyOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { filePath, listAll } from '../../support/stored/files.ts'
import { copiedOrMoved, copyOrMove } from '../../support/stored/moves.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onTwoBackends('POST /v1/files/move', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  let events: string
  /** For one test: called before each object is copied, put or deleted. */
  let beforeStep = async (_step: string, _key: string): Promise<void> => {}
  before(async () => {
    png = await picture()
    events = join(await temporaryFolder(), 'events')
    service = await start({
      env: { PLUGINS_DIR: await pluginFolder({ 'recorder.js': recorder(events) }) },
      wrapStorage: wrapBuckets((bucket) => ({
        async copy(from, to, options) {
          await beforeStep('copy', from)
          return bucket.copy(from, to, options)
        },
        async put(key, bytes, options) {
          await beforeStep('put', key)
          return bucket.put(key, bytes, options)
        },
        async delete(keys) {
          await beforeStep('delete', String(keys[0]))
          return bucket.delete(keys)
        },
      })),
    })
  })
  beforeEach(async () => {
    beforeStep = async () => {}
    client = await newClient(service)
  })

  const upload = (path = 'a') => uploadOne(client, { name: 'a.png', bytes: png }, { path })
  const keys = async () => (await listAll(client)).map((file) => file.s3PathOriginal).sort()
  const objects = async () => (await service.objects()).filter((name) => name.includes(client.id))
  const patch = (key: string, json: object) => ask(client, filePath(key), { method: 'PATCH', json })

  it('stores the file in another folder and deletes it with its derivatives in the first one', async () => {
    const source = await upload()
    await exchange(service, `${source.src}?w=10`)
    await settled(service)
    await patch(source.s3PathOriginal, { tags: ['red'], originalName: 'b.png' })
    const [listed] = await listAll(client)
    const moved = await copiedOrMoved(client, 'move', { from: source.s3PathOriginal, to: 'b' })
    expect(moved).to.deep.include({ tags: ['red'], originalName: 'b.png', uploadedAt: listed?.uploadedAt })
    expect(await keys()).to.deep.equal([moved.s3PathOriginal])
    expect((await exchange(service, moved.src)).body.equals(png)).to.equal(true)
    expect((await exchange(service, source.src)).status).to.equal(404)
    expect(await objects()).to.have.length(2)
    expect((await command(service, 'check', { clientId: client.id })).findings).to.deep.equal([])
  })

  itOnce('moves a file back to a path that it had before', async () => {
    const { s3PathOriginal: home, sourceName } = await upload()
    const away = `b/${sourceName}`
    for (let i = 0; i < 2; i += 1) {
      await copiedOrMoved(client, 'move', { from: home, to: away, redirect: '1d' })
      await copiedOrMoved(client, 'move', { from: away, to: home, redirect: '1d' })
    }
    expect(await keys()).to.deep.equal([home])
    // Only the redirect of the path that has no file.
    const redirects = (await objects()).filter((name) => name.includes('.sluice/redirects/'))
    expect(redirects).to.have.length(1)
    expect(redirects[0]).to.include(`/b/image/png/${sourceName}`)
    await deleteFile(client, home)
    for (const path of [home, away])
      expect((await exchange(service, `/v1/bucket/${client.tokens.clientToken}/${path}`)).status).to.equal(
        404,
      )
  })

  const moments: Record<string, { status: number; tags: string[] }> = {
    // It does not wait for the copy of the bytes.
    copy: { status: 200, tags: ['late'] },
    // It waits for the end of the move.
    put: { status: 404, tags: [] },
  }
  for (const [step, expected] of Object.entries(moments))
    itUsuallyOnce(`acknowledges no change of the record that is lost, before the ${step}`, async () => {
      const { s3PathOriginal: from } = await upload()
      let patched: Promise<{ status: number }> | undefined
      beforeStep = async (name) => {
        if (name !== step || patched !== undefined) return
        patched = patch(from, { tags: ['late'] })
        // Enough for a change that does not wait.
        await (step === 'copy' ? patched : Promise.race([patched, pause(300)]))
      }
      const { tags } = await copiedOrMoved(client, 'move', { from, to: 'b' })
      expect({ status: (await patched)?.status, tags }).to.deep.equal(expected)
    })

  it('stores one file when two moves of one file are requested at once', async () => {
    const { s3PathOriginal: from } = await upload()
    const outcomes = await copyOrMove(
      client,
      'move',
      ['b', 'c', 'd'].map((to) => ({ from, to })),
    )
    expect(outcomes.map(({ code, status }) => code ?? status).sort()).to.deep.equal([
      'file_not_found',
      'file_not_found',
      'moved',
    ])
    expect(await keys()).to.have.length(1)
    expect(await objects()).to.have.length(2)
  })

  itUsuallyOnce('leaves no file when it is deleted during the move', async () => {
    const { s3PathOriginal: from } = await upload()
    beforeStep = async (step, key) => {
      if (step !== 'put' || !key.includes('/b/image/')) return
      beforeStep = async () => {}
      expect((await deleteFile(client, from)).status).to.equal(200)
    }
    const [outcome] = await copyOrMove(client, 'move', [{ from, to: 'b' }])
    expect(outcome?.code).to.equal('file_not_found')
    expect(await keys()).to.deep.equal([])
    expect(await objects()).to.deep.equal([])
  })

  itOnce('changes nothing when the record or the redirect cannot be stored', async () => {
    const { s3PathOriginal: from } = await upload()
    for (const part of ['/meta/b/', '/redirects/']) {
      beforeStep = async (step, key) => {
        if (step === 'put' && key.includes(part)) throw new Error('the disk is broken')
      }
      const { status } = await ask(client, '/v1/files/move', {
        method: 'POST',
        json: { files: [{ from, to: 'b', redirect: '1d' }] },
      })
      expect(status).to.equal(500)
      beforeStep = async () => {}
      await service.app.sweep()
      expect(await keys()).to.deep.equal([from])
      expect(await objects()).to.have.length(2)
    }
  })

  itUsuallyOnce('is complete when the old bytes cannot be deleted yet: a sweep deletes them', async () => {
    const source = await upload()
    beforeStep = async (step, key) => {
      if (step === 'delete' && key === source.s3PathOriginal) throw new Error('EIO')
    }
    const moved = await copiedOrMoved(client, 'move', { from: source.s3PathOriginal, to: 'b' })
    expect((await exchange(service, source.src)).status).to.equal(404)
    expect(await keys()).to.deep.equal([moved.s3PathOriginal])
  })

  itOnce('does not move the source to the trash', async () => {
    await service.app.clients.setRules(client.id, { keepDeletedSeconds: 3600, dedupe: 'reuse' })
    const { s3PathOriginal: from, sourceName } = await upload()
    const moved = await copiedOrMoved(client, 'move', { from, to: 'b' })
    expect(await listAll(client, 'deleted')).to.deep.equal([])
    expect(await objects()).to.have.length(2)
    // A move adds no file, so the rule for duplicates does not apply: the file has its own tags and URLs.
    const again = await copiedOrMoved(client, 'move', { from: moved.s3PathOriginal, to: 'b' })
    expect(again.sourceName).not.to.be.oneOf([moved.sourceName, sourceName])
    await deleteFile(client, again.s3PathOriginal)
    expect((await copyOrMove(client, 'move', [{ from: again.s3PathOriginal, to: 'c' }]))[0]?.code).to.equal(
      'file_not_found',
    )
    expect(await listAll(client, 'deleted')).to.have.length(1)
  })

  itOnce('emits the events of a stored and a deleted file, which name each other', async () => {
    const source = await upload()
    const from = source.s3PathOriginal
    const copy = (await copiedOrMoved(client, 'copy', { from, to: 'c' })).s3PathOriginal
    const to = (await copiedOrMoved(client, 'move', { from, to: 'b' })).s3PathOriginal
    const named = async () =>
      (await recorded(events))
        .filter(({ event }) => event.clientId === client.id && event.key)
        .map(({ name, event }) => [name, event.key, event.copiedFrom ?? event.movedFrom ?? event.movedTo])
    await eventually(async () =>
      expect(await named()).to.have.deep.members([
        ['original.stored', from, undefined],
        ['original.stored', copy, from],
        ['original.stored', to, from],
        ['original.deleted', from, to],
      ]),
    )
  })
})
