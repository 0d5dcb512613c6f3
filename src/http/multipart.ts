import { PassThrough, Readable } from 'node:stream'
import busboy from 'busboy'
import type { Request } from 'express'
import { badParameter, Problem } from '../core/problem.ts'

/** A part that carries a file. */
export interface FilePart {
  /** As its sender calls it; may be empty. */
  name: string
  bytes: Readable
}

/** In one request. */
export const MAX_FILES = 100

/**
 * The parts named `file` of a multipart request, as they arrive: the next one comes when the one before has been
 * consumed. Fields without a file are passed over.
 *
 * @throws Problem 415 for another content type, 400 for a body that is not of the grammar, a part of another name,
 *   more than {@link MAX_FILES} files, or none
 * @see RFC 7578
 */
export async function* fileParts(req: Request, signal: AbortSignal): AsyncGenerator<FilePart> {
  const parser = createParser(req)
  // A queue for the parts that the parser finds in one chunk, and its only end.
  const parts = new PassThrough({ objectMode: true })
  const fail = (problem: Error) => {
    parts.destroy(problem)
  }
  parser.on('file', (field, stream, { filename }) => {
    if (field !== 'file') fail(badParameter('the name of the part', 'file', field))
    // Until it is read as a part, a failure of the stream has nobody to tell.
    stream.on('error', () => {})
    parts.write({
      name: filename ?? '',
      bytes: Readable.from(wellFormed(stream), { objectMode: false }),
    } satisfies FilePart)
  })
  parser.on('field', (field) => {
    if (field === 'file')
      fail(badParameter('the part file', 'a file (with curl: -F file=@name)', 'a text field'))
  })
  parser.on('filesLimit', () => fail(badParameter('the number of files', `at most ${MAX_FILES}`, 'more')))
  parser.on('partsLimit', () => fail(badParameter('the number of parts', `at most ${2 * MAX_FILES}`, 'more')))
  parser.on('error', (error) => fail(malformed(error)))
  parser.on('close', () => parts.end())
  const leave = () => {
    fail(signal.reason)
    // Whoever reads the current part would wait for its next bytes for ever.
    parser.destroy(signal.reason)
  }
  signal.addEventListener('abort', leave, { once: true })
  req.pipe(parser)

  let count = 0
  try {
    for await (const part of parts as AsyncIterable<FilePart>) {
      count += 1
      yield part
    }
  } finally {
    signal.removeEventListener('abort', leave)
    req.unpipe(parser)
    parser.destroy()
  }
  if (count === 0) throw badParameter('the form', 'at least one part named file', 'none')
}

function createParser(req: Request): busboy.Busboy {
  if (!req.is('multipart/form-data')) {
    throw new Problem({
      status: 415,
      code: 'unsupported_media_type',
      detail: `expected multipart/form-data but received ${req.headers['content-type'] ? JSON.stringify(req.headers['content-type'].slice(0, 100)) : 'no content type'}`,
      headers: { 'Accept-Post': 'multipart/form-data' },
    })
  }
  try {
    return busboy({
      headers: req.headers,
      // Names come as UTF-8 from every browser and from curl.
      defParamCharset: 'utf8',
      limits: {
        files: MAX_FILES,
        fields: MAX_FILES,
        parts: 2 * MAX_FILES,
        fieldSize: 64 * 1024,
        fieldNameSize: 100,
      },
    })
  } catch (error) {
    throw malformed(error)
  }
}

/** The part's bytes; a body that breaks off is the sender's fault, and says so. */
async function* wellFormed(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch (error) {
    throw malformed(error)
  }
}

function malformed(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  const reason = cause instanceof Error ? cause.message : 'it cannot be read'
  return new Problem({
    status: 400,
    code: 'bad_multipart',
    detail: `expected a well-formed multipart body: ${reason}`,
    cause,
  })
}
