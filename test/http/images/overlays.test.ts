import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { colourAt } from '../../support/media/images.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, newClient, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

const plain = (background: string) =>
  sharp({ create: { width: 80, height: 60, channels: 3, background } })
    .png()
    .toBuffer()

onOneBackend('overlays', (start) => {
  let service: Service
  let blue: WireRecord
  let red: WireRecord
  let redInFolder: WireRecord
  before(async () => {
    service = await start()
    blue = await uploadOne(service, { name: 'blue.png', bytes: await plain('#00f') })
    red = await uploadOne(service, { name: 'red.png', bytes: await plain('#f00') })
    redInFolder = await uploadOne(
      service,
      { name: 'r.png', bytes: await plain('#f00') },
      { path: 'Größe/b c' },
    )
  })

  const middle = async (bytes: Buffer) => {
    const { r, g, b } = await colourAt(bytes, 40, 30)
    return [r, g, b].join()
  }
  const get = (query: Record<string, string>, record = blue) =>
    exchange(service, `${record.src}?${new URLSearchParams(query)}`)

  it('draw one image over another, by any of its paths', async () => {
    const folder = 'Größe/b c'
    const answers = []
    for (const wm of [
      red.sourceName,
      red.s3PathOriginal,
      redInFolder.s3PathOriginal,
      `${folder}/${redInFolder.sourceName}`,
    ]) {
      const answer = await get({ wm, wm_size: '50' })
      expect(answer.status, wm).to.equal(200)
      expect(await middle(answer.body), wm).to.equal('255,0,0')
      expect(await colourAt(answer.body, 5, 5), wm).to.include({ r: 0, b: 255 })
      answers.push(answer.headers.etag)
    }
    // Two names of one file are one derivative; the other file's is another.
    expect(answers[1]).to.equal(answers[0])
    expect(answers[3]).to.equal(answers[2])
    expect(answers[2]).not.to.equal(answers[0])
  })

  it('draw formats whose decode may hang in a child process', async () => {
    const bytes =
      '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4" fill="#0f0"/></svg>'
    const svg = await uploadOne(service, { name: 'mark.svg', bytes })
    const { status, body } = await get({ wm: svg.sourceName })
    expect(status).to.equal(200)
    expect(await middle(body)).to.equal('0,255,0')
  })

  it('respond 404 with wm when the file does not exist, belongs to another client, or is deleted', async () => {
    const other = await newClient(service)
    const theirs = await uploadOne(other, { name: 'theirs.png', bytes: await plain('#0f0') })
    const deleted = await uploadOne(service, { name: 'gone.png', bytes: await plain('#0f0') })
    await deleteFile(service, deleted.s3PathOriginal)
    const derivatives = async () =>
      (await service.objects()).filter((key) => key.includes(`${blue.sourceName}_`))
    await settled(service)
    const made = await derivatives()
    const nowhere = 'image/png/7JAiMJ5xg1xH6JYSiPjo5R.png'
    for (const wm of [nowhere, theirs.s3PathOriginal, theirs.sourceName, deleted.s3PathOriginal]) {
      const answer = await get({ wm })
      expect(answer.status, wm).to.equal(404)
      expect(answer.headers['cache-control']).to.equal('no-store')
      const received = `image/png/${wm.split('/').at(-1)}`
      expect(jsonOf(answer)).to.include({
        code: 'asset_not_found',
        param: 'wm',
        received,
        detail: `The file "${received}" for wm does not exist.`,
      })
    }
    // Nothing is left of what was not made.
    await settled(service)
    expect(await derivatives()).to.deep.equal(made)
  })

  it('respond 400 to a file that is no image, a derivative, or a path outside the storage', async () => {
    const text = await uploadOne(service, { name: 'a.txt', bytes: 'some text' })
    await get({ w: '10' }, red)
    for (const wm of [
      text.sourceName,
      text.s3PathOriginal,
      `${red.s3PathOriginal}_w=10`,
      `../${red.s3PathOriginal}`,
      `/${red.s3PathOriginal}`,
      `%2e%2e/${red.s3PathOriginal}`,
      '.sluice/meta/x.json',
      'https://example.org/logo.png',
      '',
    ]) {
      const answer = await get({ wm })
      expect(answer.status, wm).to.equal(400)
      expect(jsonOf(answer), wm).to.include({ code: 'bad_parameter', param: 'wm', received: wm })
    }
  })

  it('respond 422 with wm when the watermark cannot be decoded', async () => {
    const whole = await sharp(await plain('#f00'))
      .jpeg()
      .toBuffer()
    const broken = await uploadOne(service, { name: 'broken.jpg', bytes: whole.subarray(0, 200) })
    const answer = await get({ wm: broken.sourceName })
    expect(answer.status).to.equal(422)
    expect(jsonOf(answer)).to.include({ code: 'not_transformable', param: 'wm' })
  })

  it('are stored: a derivative remains when its watermark is deleted', async () => {
    const mark = await uploadOne(service, { name: 'mark.png', bytes: await plain('#0f0') })
    const before = await get({ wm: mark.sourceName })
    await settled(service)
    expect((await deleteFile(service, mark.s3PathOriginal)).status).to.equal(200)
    const after = await get({ wm: mark.sourceName })
    expect(after.status).to.equal(200)
    expect(after.body.equals(before.body)).to.equal(true)
    expect((await get({ wm: mark.sourceName, w: '20' })).status).to.equal(404)
  })

  it('draw text in any script, without markup', async () => {
    const { body: plainPicture } = await get({ f: 'png', q: '99' })
    for (const text of ['█', 'Привет & <b>Ωμέγα</b>', '%3Cb%3E']) {
      const { status, body } = await get({ text, text_color: 'red', text_size: '30' })
      expect(status, text).to.equal(200)
      expect(body.equals(plainPicture), text).to.equal(false)
    }
    const { body } = await get({ text: '█', text_color: 'red', text_size: '30' })
    expect(await middle(body)).to.equal('255,0,0')
    // Equal texts are one derivative.
    const [one, other] = [await get({ text: 'caf\u00e9' }), await get({ text: ' cafe\u0301 ' })]
    expect(one.headers.etag).to.equal(other.headers.etag)
  })

  it('respond 400 to a text with invisible characters, or one that is too long', async () => {
    for (const text of ['', ' ', 'a\tb', 'a\0b', 'a\u202eb', 'a\u2066b', 'x'.repeat(201), '\u200b']) {
      const answer = await get({ text })
      expect(answer.status, JSON.stringify(text)).to.equal(400)
      expect(jsonOf(answer)).to.include({ code: 'bad_parameter', param: 'text' })
    }
    expect((await get({ text: 'x'.repeat(200) })).status).to.equal(200)
    const font = await get({ text: 'x', text_font: 'arial' })
    expect(font.status).to.equal(400)
    expect(jsonOf(font)).to.include({ param: 'text_font', received: 'arial' })
    expect(jsonOf(font).expected).to.match(/^one of sans, sans-bold, /)
  })

  it('are drawn in archives, and the manifest names a missing watermark', async () => {
    const item = (name: string, params: object) => ({ path: blue.sourceName, name, params })
    const response = await postZip(service, {
      files: [
        item('marked.png', { wm: red.sourceName, wm_size: 100 }),
        item('written.png', { text: '█', text_color: 'red', text_size: 30 }),
        item('missing.png', { wm: '7JAiMJ5xg1xH6JYSiPjo5R.png' }),
        item('wrong.png', { wm: 'logo.png' }),
      ],
    })
    const entries = entriesOf(Buffer.from(await response.arrayBuffer()))
    for (const [i, name] of ['marked.png', 'written.png'].entries()) {
      expect(entries[i]?.name).to.equal(name)
      expect(await middle(entries[i]?.bytes ?? Buffer.alloc(0)), name).to.equal('255,0,0')
    }
    expect(manifestOf(entries).map(({ status, code }) => `${status} ${code ?? ''}`)).to.deep.equal([
      'ok ',
      'ok ',
      'error 404',
      'error 400',
    ])
  })
})
