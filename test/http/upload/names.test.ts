import { execFile } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { environment } from '../../support/peers/program.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What `?download` calls the file: by RFC 8187 where there is such a name, else by the quoted one. */
function downloadName(disposition: string | undefined): string {
  const extended = /filename\*=UTF-8''([^;]+)/.exec(disposition ?? '')?.[1]
  if (extended !== undefined) return decodeURIComponent(extended)
  const plain = /filename=(?:"((?:[^"\\]|\\.)*)"|([^";]+))/.exec(disposition ?? '')
  return (plain?.[1] ?? plain?.[2] ?? '').replace(/\\(.)/g, '$1')
}

onOneBackend('file names', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  async function uploadNamed(disposition: string): Promise<WireRecord> {
    const answer = await postForm(service, [{ disposition: `name="file"; ${disposition}`, bytes: 'text' }])
    expect(answer.status).to.equal(200)
    return (jsonOf(answer) as unknown as [WireRecord])[0]
  }

  const kept: Record<string, [disposition: string, originalName: string]> = {
    'as it is': ['filename="photo.txt"', 'photo.txt'],
    'in other scripts': ['filename="Größe 写真 🙂.txt"', 'Größe 写真 🙂.txt'],
    'with escaped quotes': ['filename="a \\"b\\" c.txt"', 'a "b" c.txt'],
    'with single quotes, semicolons and commas': ['filename="a\'b;c,d=e.txt"', "a'b;c,d=e.txt"],
    'with percent signs, as they are': ['filename="100%25 %0d%0a.txt"', '100%25 %0d%0a.txt'],
    'from filename*': ["filename*=UTF-8''%e2%82%ac%20rates.txt", '€ rates.txt'],
    'of 255 bytes': [`filename="${'x'.repeat(251)}.txt"`, `${'x'.repeat(251)}.txt`],
    'truncated to 255 bytes, between characters': [`filename="${'é'.repeat(200)}"`, 'é'.repeat(127)],
    'without the path before it': ['filename="C:\\\\fakepath\\\\a.txt"', 'a.txt'],
    'without the folders before it': ['filename="../../etc/passwd"', 'passwd'],
    'without control characters': ["filename*=UTF-8''a%00b%0d%0ac%7f%c2%85.txt", 'abc.txt'],
    'without marks of direction': ['filename="photo\u202egnp.exe"', 'photognp.exe'],
    'truncated before its extension': [`filename="${'x'.repeat(300)}.jpeg"`, `${'x'.repeat(250)}.jpeg`],
    'with quotes as browsers write them': ['filename="a %22b%22.txt"', 'a "b".txt'],
    'without spaces around it': ['filename="  a.txt  "', 'a.txt'],
    'with the marks of HTML': ['filename="<script>alert(1)</script>.txt"', 'script>.txt'],
    'called __proto__': ['filename="__proto__"', '__proto__'],
  }
  for (const [how, [disposition, originalName]] of Object.entries(kept)) {
    it(`are stored ${how}`, async () => {
      const record = await uploadNamed(disposition)
      expect(record.originalName).to.equal(originalName)
      const { headers } = await exchange(service, `${record.src}?download`)
      expect(headers['content-disposition']).to.match(/^attachment; filename/)
      expect(downloadName(headers['content-disposition'])).to.equal(originalName)
    })
  }

  for (const [what, disposition] of Object.entries({
    'no name': 'filename=""\r\nContent-Type: application/octet-stream',
    'only a folder': 'filename="folder/"',
    'only dots': 'filename=".."',
    'only control characters': "filename*=UTF-8''%01%02",
  })) {
    it(`fall back to the source name for a file with ${what}`, async () => {
      const record = await uploadNamed(disposition)
      expect(record.originalName).to.equal(record.sourceName)
    })
  }

  it('never add a header', async () => {
    const record = await uploadNamed(
      "filename*=UTF-8''a%0d%0aX-Injected%3A%20yes%0d%0a%0d%0a%3Cscript%3E.txt",
    )
    for (const query of [
      '?download',
      '?download=a%0d%0aX-Injected:%20yes%0d%0a%0d%0abody',
      '?download=%00%ff',
    ]) {
      const answer = await exchange(service, `${record.src}${query}`)
      expect(answer.status).to.equal(200)
      expect(answer.headers).not.to.have.property('x-injected')
      expect(answer.body.toString()).to.equal('text')
    }
  })

  it('are refused or cleaned when their header has a control character', async () => {
    for (const control of ['\0', '\x01', '\r', '\n', '\x7f']) {
      const disposition = `name="file"; filename="a${control}X-Injected: yes.txt"`
      const answer = await postForm(service, [{ disposition, bytes: 'text' }])
      expect(answer.headers).not.to.have.property('x-injected')
      if (answer.status === 400) expect(jsonOf(answer).code).to.equal('bad_multipart')
      else expect((jsonOf(answer) as unknown as [WireRecord])[0].originalName).not.to.match(/\p{Cc}/u)
    }
  })

  const downloads: Array<[query: string, name: string]> = [
    ['?download=other.pdf', 'other.pdf'],
    ['?download=%22quoted%22.txt', '"quoted".txt'],
    ['?download=%E5%86%99%E7%9C%9F.txt', '写真.txt'],
    ['?download=..%2F..%2Fetc%2Fpasswd', 'passwd.txt'],
    ['?download=a+b.txt', 'a b.txt'],
    ['?download=report', 'report.txt'],
    ['?download=v1.2', 'v1.2.txt'],
    ['?utm_source=mail&download=other.txt', 'other.txt'],
    ['?download=a%E2%80%AEgnp.txt', 'agnp.txt'],
    ['?download=%01%02', 'photo.txt'],
    ['?download=..', 'photo.txt'],
    [`?download=${'%C3%A9'.repeat(200)}.txt`, `${'é'.repeat(125)}.txt`],
  ]
  for (const [query, name] of downloads) {
    it(`are ${name.slice(0, 30)} for ${query.slice(0, 60)}`, async () => {
      const record = await uploadNamed('filename="photo.txt"')
      const { status, headers } = await exchange(service, `${record.src}${query}`)
      expect(status).to.equal(200)
      expect(headers['content-disposition']).to.match(/^attachment; /)
      expect(downloadName(headers['content-disposition'])).to.equal(name)
      expect(headers['content-type']).to.equal('text/plain; charset=utf-8')
    })
  }

  // What programs make of a name on its way up and down again; curl knows no RFC 8187.
  const travellers: Array<[name: string, withCurl?: string, withWget?: string]> = [
    ['photo.txt'],
    ['my "best" photo.txt', 'my _best_ photo.txt'],
    ["it's; a, b=c &d.txt"],
    // wget decodes what it has decoded already.
    ['100%25 real.txt', '100_25 real.txt', '100% real.txt'],
    ['Größe.txt', 'Gro_e.txt'],
    ['写真 🙂.txt', '__ _.txt'],
    ['עברית.txt', '_____.txt'],
    // wget keeps some for endings of its own.
    [`${'x'.repeat(251)}.txt`, `${'x'.repeat(251)}.txt`, 'x'.repeat(236)],
  ]
  describe('with browsers, curl and wget', () => {
    let folder: string
    beforeEach(async () => {
      folder = await temporaryFolder()
    })
    afterEach(() => rm(folder, { recursive: true }))

    for (const [name, withCurl = name, withWget = name] of everyNth(3, travellers)) {
      it(`keep ${name.slice(0, 30)} in uploads by browsers and curl, and in downloads by wget and curl`, async () => {
        const run = (program: string, ...args: string[]) =>
          promisify(execFile)(program, args, { cwd: folder, env: environment(folder) })
        await writeFile(join(folder, 'bytes'), 'text')
        // curl takes a name in quotes, with its own escapes.
        const quoted = `"${name.replace(/["\\]/g, '\\$&')}"`
        const { stdout } = await run(
          ...['curl', '-s', '-H', `Authorization: ${service.tokens.secretClientToken}`],
          ...['-F', `file=@bytes;filename=${quoted}`, `${service.url}/v1/upload`],
        )
        const fromCurl = (JSON.parse(stdout) as WireRecord[])[0]
        expect(fromCurl?.originalName).to.equal(name)
        // As browsers do: the same standard.
        const record = await uploadOne(service, { name, bytes: 'text' })
        expect(record.originalName).to.equal(name)

        const saved = async (program: string, ...args: string[]) => {
          await run(program, ...args, `${record.src}?download`)
          const names = (await readdir(folder)).filter((one) => one !== 'bytes')
          for (const one of names) await rm(join(folder, one))
          return names
        }
        expect(await saved('curl', '-sOJ')).to.deep.equal([withCurl])
        const wget = ['-q', '--content-disposition', '--restrict-file-names=nocontrol']
        expect(await saved('wget', ...wget)).to.deep.equal([withWget])
      })
    }
  })

  it('have the extension of the format of a derivative', async () => {
    const record = await uploadOne(service, { name: 'photo.PNG', bytes: await picture() })
    for (const [query, name] of [
      ['download', 'photo.PNG'],
      ['w=9&download', 'photo.PNG'],
      ['w=9&f=webp&download', 'photo.webp'],
      // Stored by now.
      ['w=9&f=webp&download', 'photo.webp'],
      ['w=9&f=jpeg&download=mine.png', 'mine.png'],
    ]) {
      const { headers } = await exchange(service, `${record.src}?${query}`)
      expect(downloadName(headers['content-disposition']), query).to.equal(name)
    }
    const derivative = record.src.replace(record.sourceName, `${record.s3PathOriginal}_f=webp&w=9`)
    // It may have been delivered while it was still being stored.
    await eventually(async () => {
      const { headers } = await exchange(service, `${derivative}?download`)
      expect(downloadName(headers['content-disposition']), 'by its key').to.equal('photo.webp')
    })
  })

  it('are sent inline without ?download', async () => {
    const record = await uploadNamed('filename="photo.txt"')
    expect((await exchange(service, record.src)).headers).not.to.have.property('content-disposition')
  })
})
