import { createHash } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import type { BackupTroubleKind } from '../../core/backup/report.ts'

/** The bytes that an object must have. */
export interface Content {
  /** In bytes. */
  size: number
  /** In lower-case hexadecimal. */
  sha256: string
}

/** The bytes of an object are not those of its digest. */
export class DamagedBytes extends Error {
  override name = 'DamagedBytes'
}

/** The bytes of an object do not exist. */
export class MissingBytes extends Error {
  override name = 'MissingBytes'
}

/** The source of a copy could not be read. The target is not affected. */
export class UnreadableSource extends Error {
  override name = 'UnreadableSource'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** The target cannot have an object with this key. */
class RefusedKey extends Error {
  override name = 'RefusedKey'
}

/** The kind of an error that affects one file. @throws any other error */
export function troubleKind(error: unknown): BackupTroubleKind {
  if (error instanceof MissingBytes) return 'missing'
  if (error instanceof DamagedBytes) return 'damaged'
  if (error instanceof UnreadableSource) return 'unreadable'
  if (error instanceof RefusedKey) return 'refused'
  throw error
}

// On a disk, a name has at most 255 bytes, and a file and a folder cannot have the same path.
const REFUSALS = ['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY']

/** The result of a put. @throws RefusedKey */
export async function storable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    const { code } = error as NodeJS.ErrnoException
    throw REFUSALS.includes(code ?? '') ? new RefusedKey((error as Error).message, { cause: error }) : error
  })
}

/**
 * The same bytes. The stream fails at its end, or after too many bytes, unless they are the expected ones: a put of it stores all
 * of them or nothing. It fails with {@link DamagedBytes}, and with {@link UnreadableSource} when `source` fails.
 */
export function checkedBytes(source: Readable, { size, sha256 }: Content): Readable {
  const hash = createHash('sha256')
  let length = 0
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, passOn) {
      length += chunk.length
      hash.update(chunk)
      if (length > size) passOn(new DamagedBytes(`more than ${size} bytes`))
      else passOn(null, chunk)
    },
    flush(end) {
      if (length < size) end(new DamagedBytes(`${length} of ${size} bytes`))
      else end(hash.digest('hex') === sha256 ? null : new DamagedBytes('another SHA-256'))
    },
  })
  source.once('error', (error) => checked.destroy(new UnreadableSource(error)))
  pipeline(source, checked, () => {})
  return checked
}

/** Reads all bytes. @returns what is wrong with them; undefined for the expected ones @throws UnreadableSource */
export async function damageOf(source: Readable, content: Content): Promise<string | undefined> {
  try {
    for await (const _ of checkedBytes(source, content));
    return undefined
  } catch (error) {
    if (error instanceof DamagedBytes) return error.message
    throw error
  }
}

/** The result of a read. @throws UnreadableSource when it fails */
export async function readable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw error instanceof UnreadableSource ? error : new UnreadableSource(error)
  })
}

/** The same bytes, whose failure is an {@link UnreadableSource}. */
export async function* sourceOf(source: Readable): AsyncGenerator<Buffer> {
  try {
    yield* source as AsyncIterable<Buffer>
  } catch (error) {
    throw new UnreadableSource(error)
  }
}
