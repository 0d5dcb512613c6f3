import { open } from 'node:fs/promises'
import { fromFdPromise } from 'yauzl'
import { type CompoundFile, openCompoundFile } from './compound-file.ts'

// The manifest of a document with a thousand images has 100 kB.
const MAX_MANIFEST_BYTES = 1_000_000
const ZIP_MAGIC = 0x04_03_4b_50

// Of the start of the stream `WordDocument`. @see MS-DOC, section 2.5.2
const FIB_FLAGS_AT = 10
const FIB_ENCRYPTED = 0x01_00
// Of the stream `Current User`. @see MS-PPT, section 2.3.2
const PPT_TOKEN_AT = 12
const PPT_ENCRYPTED = 0xf3_d1_c4_df
// The record in the stream `Workbook` that has the key. @see MS-XLS, section 2.4.117
const FILEPASS = 0x2f
const WORKBOOK_START = 4096

/**
 * Reads from the start and the directory of an Office document whether it is encrypted. Excel also encrypts a workbook whose
 * structure is protected, with a password that all programs know.
 *
 * @returns false for a broken document: LibreOffice may repair it
 */
export async function isEncrypted(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const compound = await openCompoundFile(file)
    if (compound) return await isEncryptedCompound(compound)
    const magic = Buffer.alloc(4)
    await file.read(magic, 0, magic.length, 0)
    return magic.readUInt32LE(0) === ZIP_MAGIC && (await isEncryptedOpenDocument(file.fd))
  } catch {
    return false
  } finally {
    await file.close()
  }
}

async function isEncryptedCompound({ names, start }: CompoundFile): Promise<boolean> {
  // Of DOCX, XLSX and PPTX.
  if (names.has('EncryptedPackage')) return true
  if (names.has('WordDocument')) {
    const text = await start('WordDocument', FIB_FLAGS_AT + 2)
    return text?.length === FIB_FLAGS_AT + 2 && (text.readUInt16LE(FIB_FLAGS_AT) & FIB_ENCRYPTED) !== 0
  }
  if (names.has('PowerPoint Document')) {
    const user = await start('Current User', PPT_TOKEN_AT + 4)
    return user?.length === PPT_TOKEN_AT + 4 && user.readUInt32LE(PPT_TOKEN_AT) === PPT_ENCRYPTED
  }
  const workbook = (await start('Workbook', WORKBOOK_START)) ?? (await start('Book', WORKBOOK_START))
  return workbook !== undefined && hasFilePass(workbook)
}

/** Whether one of the first records of a workbook has the key of its encryption. */
function hasFilePass(workbook: Buffer): boolean {
  for (let at = 0; at + 4 <= workbook.length; at += 4 + workbook.readUInt16LE(at + 2))
    if (workbook.readUInt16LE(at) === FILEPASS) return true
  return false
}

/** Whether the manifest of an OpenDocument file has the key of an entry. */
async function isEncryptedOpenDocument(fd: number): Promise<boolean> {
  const zip = await fromFdPromise(fd, { lazyEntries: true, autoClose: false })
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== 'META-INF/manifest.xml') continue
    if (entry.uncompressedSize > MAX_MANIFEST_BYTES) return false
    const parts: Buffer[] = []
    // yauzl stops at the stated size.
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part)
    return /<(?:\w+:)?encryption-data[\s>]/.test(Buffer.concat(parts).toString('utf8'))
  }
  return false
}
