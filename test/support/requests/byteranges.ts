import { expect } from 'chai'
import type { Answer } from './exchange.ts'

/** One part of a `multipart/byteranges` answer. */
export interface BytePart {
  /** Names in lower case. */
  headers: Record<string, string>
  bytes: Buffer
}

/** The parts of an answer in its order, read by the letter of RFC 2046: whatever is out of place fails. */
export function partsOf({ headers, body }: Pick<Answer, 'headers' | 'body'>): BytePart[] {
  const type = String(headers['content-type'])
  const boundary = /^multipart\/byteranges; boundary=([0-9A-Za-z'+_./:=?-]{1,70})$/.exec(type)?.[1]
  if (!boundary) throw new Error(`expected multipart/byteranges with a boundary but received ${type}`)
  const text = body.toString('latin1')
  const delimiter = `\r\n--${boundary}`
  const [preamble, ...rest] = text.split(delimiter)
  expect(preamble, 'before the first part').to.equal('')
  expect(rest.pop(), 'after the last part').to.equal('--\r\n')
  return rest.map((part) => {
    expect(part.slice(0, 2), 'after a boundary').to.equal('\r\n')
    const end = part.indexOf('\r\n\r\n')
    expect(end, 'the end of the headers of a part').to.be.at.least(2)
    const fields = part.slice(2, end).split('\r\n')
    return {
      headers: Object.fromEntries(fields.map((field) => splitField(field))),
      bytes: Buffer.from(part.slice(end + 4), 'latin1'),
    }
  })
}

function splitField(field: string): [name: string, value: string] {
  const match = /^([\w-]+): (.*)$/.exec(field)
  if (!match) throw new Error(`expected a header field but received ${field}`)
  return [String(match[1]).toLowerCase(), String(match[2])]
}
