import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A project folder with these presets. */
async function rootWith(presets: object): Promise<string> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'config'))
  await writeFile(join(folder, 'config', 'presets.json'), JSON.stringify(presets))
  return folder
}

onOneBackend('presets', (start) => {
  const roots: string[] = []
  const startWith = async (presets: object, dataDir?: string) => {
    const root = await rootWith(presets)
    roots.push(root)
    return start({ root, ...(dataDir === undefined ? {} : { dataDir }) })
  }
  after(async () => {
    for (const root of roots) await rm(root, { recursive: true })
  })

  it('are delivered as their parameters, under the key of these', async () => {
    const service = await startWith({ card: { w: 40, h: 20, f: 'webp' } })
    const record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const plain = await exchange(service, `${record.src}?w=40&h=20&f=webp`)
    const { status, headers, body } = await exchange(service, `${record.src}?preset=card`)
    expect({ status, etag: headers.etag }).to.deep.equal({ status: 200, etag: plain.headers.etag })
    expect(body.equals(plain.body)).to.equal(true)
    const { format, width, height } = await sharp(body).metadata()
    expect({ format, width, height }).to.deep.equal({ format: 'webp', width: 40, height: 20 })
    const wider = await exchange(service, `${record.src}?w=80&preset=card`)
    expect(await sharp(wider.body).metadata()).to.include({ width: 80, height: 20 })
    const unknown = await exchange(service, `${record.src}?preset=cart`)
    expect(unknown.status).to.equal(400)
    expect(jsonOf(unknown)).to.include({ code: 'unknown_preset', nearest: 'card' })
  })

  it('deliver the new result as soon as they are edited', async () => {
    const dataDir = await temporaryFolder()
    const first = await startWith({ card: { w: 40 } }, dataDir)
    const record = await uploadOne(first, { name: 'a.png', bytes: await picture() })
    const path = `${record.src.slice(first.url.length)}?preset=card`
    expect(await sharp((await exchange(first, path)).body).metadata()).to.include({ width: 40 })
    await first.stop({ keepData: true })
    const second = await startWith({ card: { w: 50 } }, dataDir)
    const { body, headers } = await exchange(second, path)
    expect(await sharp(body).metadata()).to.include({ width: 50 })
    expect(headers.etag).to.equal(`"${record.s3PathOriginal}_w=50"`)
    await second.stop()
  })

  it('work in archives', async () => {
    const service = await startWith({ card: { w: 40 } })
    const { sourceName: path } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const answer = await postZip(service, { files: [{ path, params: { preset: 'card' } }] })
    const [entry] = entriesOf(Buffer.from(await answer.arrayBuffer()))
    expect(await sharp(entry?.bytes).metadata()).to.include({ width: 40 })
  })
})

describe('presets with invalid parameters', () => {
  it('stop the start, and the error lists all of them with the reasons', async () => {
    const root = await rootWith({ one: { w: 0 }, two: { widht: 5 } })
    const { message } = (await rejection(startService({ root }))) as Error
    await rm(root, { recursive: true })
    expect(message.split('\n')).to.have.length(2)
    expect(message)
      .to.match(/presets\.json: one: .*for w/)
      .and.match(/presets\.json: two: .*"widht"/)
  })
})

describe('the included presets', () => {
  it('are valid for the included plugins', async () => {
    const service = await startService()
    try {
      const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      const { body } = await exchange(service, `${src}?preset=thumbnail`)
      expect(await sharp(body).metadata()).to.include({ width: 200, height: 200 })
      expect((await exchange(service, `${src}?preset=preview`)).status).to.equal(200)
    } finally {
      await service.stop()
    }
  })
})
