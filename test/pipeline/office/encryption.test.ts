import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { isEncrypted } from '../../../src/engines/office/encryption.ts'
import { mutated } from '../../support/media/mutated.ts'
import { zipped } from '../../support/media/zipped.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const pathOf = (name: string) => join(PROJECT, 'test/corpus/files', name)

// Of Microsoft Office and of LibreOffice.
const OPEN = [
  'word-2003.doc',
  'powerpoint-2003.ppt',
  'excel-2002.xls',
  ...['doc', 'docx', 'odt', 'rtf', 'ods', 'xls', 'xlsx', 'odp', 'pptx'].map((end) => `libreoffice.${end}`),
  'archive.zip',
  'compound.doc',
  'compound.ppt',
  'compound.xls',
  'text.txt',
]
const ENCRYPTED = [
  'word-encrypted.doc',
  'word-encrypted.docx',
  'powerpoint-encrypted.ppt',
  'excel-encrypted.xls',
  // With the password that Excel uses to protect a workbook.
  'excel-protected.xlsx',
]

describe('the encryption of an Office document', () => {
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('is found in documents with a password', async () => {
    for (const name of ENCRYPTED) expect(await isEncrypted(pathOf(name)), name).to.equal(true)
  })

  it('is not found in others', async () => {
    for (const name of OPEN) expect(await isEncrypted(pathOf(name)), name).to.equal(false)
  })

  it('is found in the manifest of an OpenDocument file', async () => {
    const path = join(folder, 'a.odt')
    for (const [inner, expected] of [
      ['<manifest:encryption-data manifest:checksum-type="SHA256/1K"/>', true],
      ['', false],
    ] as const) {
      const entry = `<manifest:file-entry manifest:full-path="content.xml">${inner}</manifest:file-entry>`
      const names = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
      const manifest = `<manifest:manifest ${names}>${entry}</manifest:manifest>`
      await writeFile(path, await zipped({ mimetype: 'a', 'META-INF/manifest.xml': manifest }))
      expect(await isEncrypted(path)).to.equal(expected)
    }
  })

  it('is searched in any bytes, with few reads', async function () {
    this.timeout(sized(20_000, 600_000))
    const files = await Promise.all(ENCRYPTED.map((name) => readFile(pathOf(name))))
    const path = join(folder, 'a.doc')
    for (const bytes of mutated(files, { count: sized(60, 5000), spared: 8 })) {
      await writeFile(path, bytes)
      // Without a bound on the reads, the time limit of the test ends it.
      expect(await isEncrypted(path)).to.be.a('boolean')
    }
  })

  it('is searched in a file whose chains have no end', async () => {
    // Each number is that of the same sector.
    const bytes = Buffer.alloc(512 * 200)
    bytes.write('d0cf11e0a1b11ae1', 'hex')
    bytes[30] = 9
    for (let at = 512; at < bytes.length; at += 128) {
      bytes.write('Current User\0', at, 'utf16le')
      bytes.writeUInt16LE(26, at + 64)
      bytes.writeUInt32LE(100, at + 120)
    }
    const path = join(folder, 'a.ppt')
    await writeFile(path, bytes)
    expect(await isEncrypted(path)).to.equal(false)
  })
})
