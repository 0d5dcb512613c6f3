import { PassThrough, Readable } from 'node:stream'
import type { Request } from 'express'
import { Problem, tooLarge, unsupportedMediaType } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import { bodyDigests, partDigests } from '../body/digests.ts'
import { watchRate } from '../body/min-rate.ts'
import { isOfType } from '../request.ts'
import { createPartParser, type FormPart, type PartParser } from './form-part.ts'
import { createFormSplitter, type PartContent } from './form-splitter.ts'

/** A part that contains a file. */
export interface FilePart {
  /** The file name from the client. May be empty. */
  name: string
  bytes: Readable
}

const FIELDS_MAX = 100
/** Bytes of a text field. */
export const FIELD_MAX_BYTES = 64 * 1024

// Maximum of bytes outside of files: a hundred fields of 64 KB, and the headers of the parts.
const OUTSIDE_MAX_BYTES = 8 * 1024 * 1024

// All parts or none: a part that cannot be read may be a file.
const READABLE_PARTS =
  'parts with well-formed headers (a name with spaces needs quotes) but cannot read one of them'
// Chunks of one file that wait for the bucket, of up to 64 KiB each.
const CHUNKS_AHEAD = 8

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
    /** Called with the text of a field. The value is undefined when it is longer than {@link FIELD_MAX_BYTES}. */
    onField: (name: string, value: string | undefined) => void
    signal: AbortSignal
  },
): AsyncGenerator<FilePart> {
  // The body of a client that has already disconnected emits nothing, so its reader would wait forever.
  signal.throwIfAborted()
  const parser = partParser(req)
  // Queues the parts that are found in one chunk. All errors and the end pass through it.
  const parts = new PassThrough({ objectMode: true })
  /** The file that is being received. */
  let current: Readable | undefined
  let [files, fields, outside] = [0, 0, 0]

  function beginPart(header: Buffer): PartContent {
    const part = parser.parse(header)
    if (!part) throw badForm(READABLE_PARTS)
    checkEncoding(header)
    return part.kind === 'file' ? beginFile(part, header) : beginField(part.field, header)
  }

  function beginFile({ field, fileName }: FormPart & { kind: 'file' }, header: Buffer): PartContent {
    files += 1
    if (files > maxFiles) throw badForm(`at most ${maxFiles} files but received more`)
    if (field !== 'file')
      throw badForm(`a part named file but received one named ${JSON.stringify(truncate(field))}`)
    const bytes = new Readable({
      // One chunk per read: in byte mode, a read would copy all chunks into one.
      objectMode: true,
      highWaterMark: CHUNKS_AHEAD,
      read: () => void req.resume(),
    })
    // Until it is read as a part, no other code handles its error.
    bytes.on('error', () => {})
    current = bytes
    const digests = partDigests(header)
    let isEmpty = true
    // Browsers and curl encode a quote as %22 and leave "%" alone, so a name that really contains %22 is changed.
    parts.write({ name: fileName.replaceAll('%22', '"'), bytes } satisfies FilePart)
    return {
      push(content) {
        outside -= content.length
        isEmpty = false
        digests?.add(content)
        bytes.push(content)
      },
      end() {
        // What a browser sends for an input without a chosen file. A file may have no bytes, but it has a name.
        if (isEmpty && fileName === '') throw badForm('a file in the part file but received no file')
        digests?.verify()
        bytes.push(null)
        current = undefined
      },
    }
  }

  function beginField(field: string, header: Buffer): PartContent {
    fields += 1
    if (fields > FIELDS_MAX) throw badForm(`at most ${FIELDS_MAX} text fields but received more`)
    if (field === 'file')
      throw badForm('a file in the part file (with curl: -F file=@name) but received a text field')
    const content: Buffer[] = []
    let length = 0
    return {
      push(bytes) {
        const rest = bytes.subarray(0, FIELD_MAX_BYTES - length)
        length += rest.length
        content.push(rest)
      },
      end() {
        const part = parser.parse(header, content)
        if (part?.kind === 'field') onField(field, part.value)
      },
    }
  }

  const splitter = createFormSplitter(parser.boundary, beginPart)
  let begun = false
  const digests = bodyDigests(req.headers)
  const take = (chunk: Buffer) => {
    begun = true
    outside += chunk.length
    digests?.add(chunk)
    try {
      splitter.push(chunk)
      // Text before the first boundary, and fields, may be endless: they are ignored.
      if (outside > OUTSIDE_MAX_BYTES) throw tooLarge('a form without its files', OUTSIDE_MAX_BYTES)
    } catch (error) {
      breakOff(malformed(error))
    }
    // A file that has enough chunks calls `read` when it has fewer.
    if (current && current.readableLength >= CHUNKS_AHEAD) req.pause()
  }
  const finish = () => {
    try {
      if (!begun) throw badForm('at least one part named file but received no body')
      if (!splitter.isClosed()) throw new Error('Unexpected end of form')
      digests?.verify()
      parts.end()
    } catch (error) {
      breakOff(malformed(error))
    }
  }
  const stop = () => void req.off('data', take).off('end', finish).pause()
  const breakOff = (reason: Error) => {
    stop()
    parts.destroy(reason)
    // Otherwise the reader of the current part would wait for its next bytes forever.
    current?.destroy(malformed(reason))
  }
  const leave = () => breakOff(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const unwatch = watchRate(req, minBytesPerSecond, breakOff)
  req.on('data', take).once('end', finish)

  let count = 0
  try {
    for await (const part of parts as AsyncIterable<FilePart>) {
      count += 1
      yield part
    }
  } finally {
    unwatch()
    signal.removeEventListener('abort', leave)
    stop()
  }
  if (count === 0) throw badForm('at least one part named file but received none')
}

function partParser(req: Request): PartParser {
  if (!isOfType(req, 'multipart/form-data')) {
    throw unsupportedMediaType({
      expected: 'multipart/form-data, application/json',
      received: req.headers['content-type'],
    })
  }
  try {
    return createPartParser(req, { fieldMaxBytes: FIELD_MAX_BYTES })
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

// Of mail. RFC 7578 section 4.7 deprecates it for forms, and browsers never send it.
const ENCODED = /^content-transfer-encoding:[ \t]*(base64|quoted-printable)/im

/** @throws Problem 415 for a part that is text in the encoding of a mail: it would be stored as that text */
function checkEncoding(header: Buffer): void {
  const encoding = ENCODED.exec(header.toString('latin1'))?.[1]
  if (encoding !== undefined)
    throw unsupportedMediaType({
      expected: 'parts in binary',
      received: `Content-Transfer-Encoding: ${encoding}`,
    })
}
