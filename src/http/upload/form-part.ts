import busboy from 'busboy'
import type { Request } from 'express'

/** A part of a form. */
export type FormPart =
  | { kind: 'file'; field: string; fileName: string }
  /** `value` is undefined when it is longer than the limit. */
  | { kind: 'field'; field: string; value: string | undefined }

/** Parses one part of a form. */
export interface PartParser {
  boundary: string
  /**
   * @param header as from {@link import('./form-splitter.ts').BeginPart}
   * @param content of a field; not needed for a file
   * @returns undefined for a part that busboy ignores: one with an invalid header, such as `filename=my file.png`
   * @throws Error for a malformed header
   */
  parse(header: Buffer, content?: readonly Buffer[]): FormPart | undefined
}

/** @throws Error for a request without a valid boundary */
export function createPartParser(
  { headers }: Pick<Request, 'headers'>,
  { fieldMaxBytes }: { fieldMaxBytes: number },
): PartParser {
  const newParser = () =>
    busboy({
      headers,
      // Every browser and curl send names as UTF-8.
      defParamCharset: 'utf8',
      limits: { fieldSize: fieldMaxBytes },
    })
  newParser().on('error', () => {}).destroy()
  const boundary = boundaryOf(headers['content-type'])
  if (boundary === undefined) throw new Error('its boundary cannot be read')
  return {
    boundary,
    parse(header, content = []) {
      let found: FormPart | undefined
      let failure: Error | undefined
      const parser = newParser()
      parser.on('error', (error: Error) => {
        failure ??= error
      })
      parser.on('file', (field, stream, { filename: fileName }) => {
        found = { kind: 'file', field, fileName: fileName ?? '' }
        stream.resume()
      })
      parser.on('field', (field, value, { valueTruncated }) => {
        found = { kind: 'field', field, value: valueTruncated ? undefined : value }
      })
      // A form of this one part. busboy parses it during the call.
      const [begin, end] = [`--${boundary}`, `\r\n--${boundary}--`].map((text) => Buffer.from(text, 'latin1'))
      parser.write(Buffer.concat([begin, header, ...content, end] as Buffer[]))
      if (failure) throw failure
      parser.destroy()
      return found
    },
  }
}

function boundaryOf(contentType = ''): string | undefined {
  const [, quoted, token] = /;\s*boundary=(?:"((?:[^"\\]|\\.)+)"|([^\s;"]+))/i.exec(contentType) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? token
}
