import { PassThrough, Readable } from 'node:stream'
import busboy from 'busboy'
import type { Request } from 'express'
import { Problem, tooLarge, unsupportedMediaType } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import { watchRate } from '../body/min-rate.ts'
import { isOfType } from '../request.ts'
import { createPartCount } from './part-count.ts'

/** A part that contains a file. */
export interface FilePart {
  /** The file name from the client. May be empty. */
  name: string
  bytes: Readable
}

const FIELDS_MAX = 100
const FIELD_MAX_BYTES = 64 * 1024

// Maximum of bytes outside of files: a hundred fields of 64 KB, and the headers of the parts.
const OUTSIDE_MAX_BYTES = 8 * 1024 * 1024

/**
 * The parts named `file` of a multipart request, as they arrive: the next one when the one before was consumed. Text
 * fields are passed to `onField`, before the files that follow them and before the end.
 *
 * @throws Problem 415 for another content type; 400 for an invalid body, a file part with another name, more than
 *   `maxFiles` files, or no file, and the errors of `onField`; 408 for a client that is too slow; 413 when too many
 *   bytes are outside of files
 * @see RFC 7578
 */
export async function* fileParts(
  req: Request,
  {
    maxFiles,
    minBytesPerSecond,
    onField,
    signal,
  }: {
    maxFiles: number
    minBytesPerSecond: number
    /** Called with the text of a field. The value is undefined when it is longer than 64 KiB. */
    onField: (name: string, value: string | undefined) => void
    signal: AbortSignal
  },
): AsyncGenerator<FilePart> {
  // The body of a client that has already disconnected emits nothing, so its reader would wait forever.
  signal.throwIfAborted()
  const parser = createParser(req, maxFiles)
  // Queues the parts that the parser finds in one chunk. All errors and the end pass through it.
  const parts = new PassThrough({ objectMode: true })
  const fail = (problem: Error) => {
    parts.destroy(problem)
  }
  const partCount = createPartCount(req.headers['content-type'])
  let emitted = 0
  parser.on('file', (field, stream, { filename }) => {
    emitted += 1
    if (field !== 'file')
      fail(badForm(`a part named file but received one named ${JSON.stringify(truncate(field))}`))
    // Until the stream is read as a part, no other code handles its error.
    stream.on('error', () => {})
    parts.write({
      // Browsers and curl encode a quote as %22 and leave "%" alone, so a name that really contains %22 is changed.
      name: (filename ?? '').replaceAll('%22', '"'),
      bytes: Readable.from(counted(stream), { objectMode: false }),
    } satisfies FilePart)
  })
  parser.on('field', (field, value, { valueTruncated }) => {
    emitted += 1
    if (field === 'file')
      return fail(badForm('a file in the part file (with curl: -F file=@name) but received a text field'))
    try {
      onField(field, valueTruncated ? undefined : value)
    } catch (error) {
      fail(error as Error)
    }
  })
  parser.on('filesLimit', () => fail(badForm(`at most ${maxFiles} files but received more`)))
  parser.on('fieldsLimit', () => fail(badForm(`at most ${FIELDS_MAX} text fields but received more`)))
  parser.on('partsLimit', () => fail(badForm(`at most ${maxFiles + FIELDS_MAX} parts but received more`)))
  let begun = false
  let outside = 0
  req.on('data', (chunk: Buffer) => {
    begun = true
    outside += chunk.length
    partCount?.push(chunk)
    // Text before the first boundary, and fields, may be endless: the parser ignores them.
    if (outside > OUTSIDE_MAX_BYTES) fail(tooLarge('a form without its files', OUTSIDE_MAX_BYTES))
  })
  /** The bytes of a part. When the body breaks off, the error states that this is the client's fault. */
  async function* counted(file: Readable): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of file) {
        outside -= bytes.length
        yield bytes
      }
    } catch (error) {
      throw malformed(error)
    }
  }
  parser.on('error', (error) =>
    fail(begun ? malformed(error) : badForm('at least one part named file but received no body')),
  )
  parser.on('close', () => {
    // All parts or none: a part that the parser has ignored may have been a file.
    if (partCount && partCount.begun() !== emitted)
      fail(
        badForm(
          'parts with well-formed headers (a name with spaces needs quotes) but cannot read one of them',
        ),
      )
    parts.end()
  })
  const breakOff = (reason: Error) => {
    fail(reason)
    // Otherwise the reader of the current part would wait for its next bytes forever.
    parser.destroy(reason)
  }
  const leave = () => breakOff(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const unwatch = watchRate(req, minBytesPerSecond, breakOff)
  req.pipe(parser)

  let count = 0
  try {
    for await (const part of parts as AsyncIterable<FilePart>) {
      count += 1
      yield part
    }
  } finally {
    unwatch()
    signal.removeEventListener('abort', leave)
    req.unpipe(parser)
    parser.destroy()
  }
  if (count === 0) throw badForm('at least one part named file but received none')
}

function createParser(req: Request, maxFiles: number): busboy.Busboy {
  if (!isOfType(req, 'multipart/form-data')) {
    throw unsupportedMediaType({
      expected: 'multipart/form-data, application/json',
      received: req.headers['content-type'],
    })
  }
  try {
    return busboy({
      headers: req.headers,
      // Every browser and curl send names as UTF-8.
      defParamCharset: 'utf8',
      limits: {
        files: maxFiles,
        fields: FIELDS_MAX,
        // The parser counts the closing boundary as a part.
        parts: maxFiles + FIELDS_MAX + 1,
        fieldSize: FIELD_MAX_BYTES,
        fieldNameSize: 100,
      },
    })
  } catch (error) {
    throw malformed(error)
  }
}

/** 400. `expected` continues the text "expected": the expected form, and optionally what was received. */
function badForm(expected: string): Problem {
  return new Problem({
    status: 400,
    code: 'bad_multipart',
    detail: `expected ${expected}`,
    members: { param: 'file' },
  })
}

function malformed(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  const reason = cause instanceof Error ? cause.message : 'it cannot be read'
  const detail = `expected a well-formed multipart body: ${reason}`
  return new Problem({ status: 400, code: 'bad_multipart', detail, cause })
}
