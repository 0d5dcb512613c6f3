import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Request } from 'express'
import fc from 'fast-check'
import { createPartParser } from '../../../../src/http/upload/form-part.ts'
import { createFormSplitter } from '../../../../src/http/upload/form-splitter.ts'
import { fileParts } from '../../../../src/http/upload/multipart.ts'
import { holds } from '../../../contracts/property.ts'
import { BOUNDARY, MULTIPART, multipart } from '../../../support/requests/multipart.ts'

/** Splits a body that arrives in chunks of a size. */
function split(body: Buffer, { size = body.length } = {}) {
  const parts: Array<{ header: string; content: string; isComplete: boolean }> = []
  const splitter = createFormSplitter(BOUNDARY, (header) => {
    const part = { header: header.toString(), content: '', isComplete: false }
    parts.push(part)
    return {
      push: (bytes) => {
        part.content += bytes.toString('latin1')
      },
      end: () => {
        part.isComplete = true
      },
    }
  })
  for (let at = 0; at < body.length; at += size) splitter.push(body.subarray(at, at + size))
  return { parts, isClosed: splitter.isClosed() }
}

describe('a form', () => {
  const content = `\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n\r`
  const file = { disposition: 'name="file"; filename="a"', bytes: content }
  const header = '\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'

  it('is split at its boundaries wherever its chunks end', () => {
    const body = Buffer.concat([
      Buffer.from('before\r\n'),
      multipart([file, { ...file, bytes: '' }, file]),
      Buffer.from('behind\r\n'),
      multipart([file]),
    ])
    const parts = [content, '', content].map((text) => ({ header, content: text, isComplete: true }))
    for (let size = 1; size <= body.length; size += 1)
      expect(split(body, { size }), `chunks of ${size}`).to.deep.equal({ parts, isClosed: true })
  })

  it('has the parts that were sent, whatever they contain and wherever its chunks end', () => {
    const pieces = ['\r', '\n', '-', '--', 'x', '\r\n', `--${BOUNDARY.slice(0, -1)}`, BOUNDARY.slice(1)]
    const contents = fc
      .string({ unit: fc.constantFrom(...pieces) })
      .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${BOUNDARY}`))
    return holds(
      fc.property(
        fc.array(contents, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 90 }),
        (texts, size) => {
          const body = multipart(texts.map((bytes) => ({ ...file, bytes })))
          const parts = texts.map((text) => ({ header, content: text, isComplete: true }))
          expect(split(body, { size })).to.deep.equal({ parts, isClosed: true })
        },
      ),
    )
  })

  it('is not complete without its closing boundary', () => {
    const body = multipart([file])
    const { parts, isClosed } = split(body.subarray(0, body.lastIndexOf('\r\n--') + 5))
    expect(parts).to.deep.equal([{ header, content, isComplete: false }])
    expect(isClosed).to.equal(false)
  })

  for (const [what, text] of [
    ['a line that only begins like a boundary', `--${BOUNDARY}s\r\n\r\n`],
    ['a header without an end', `--${BOUNDARY}\r\nX: y\r\n--${BOUNDARY}--`],
    ['a header of more than 16 KiB', `--${BOUNDARY}\r\nX: ${'y'.repeat(17_000)}`],
  ] as const)
    it(`is refused with ${what}`, () => {
      expect(() => split(Buffer.from(text), { size: 100 })).to.throw()
    })
})

describe('the boundary of a form', () => {
  for (const [type, boundary] of [
    ['multipart/form-data; boundary=x', 'x'],
    ['multipart/form-data;charset="a;b" ; Boundary="x"; boundary=y', 'x'],
    ['multipart/form-data; boundary="x\\"y"', 'x"y'],
    ['multipart/form-data; boundary="x y"', 'x y'],
    ['multipart/form-data', undefined],
  ] as const)
    it(`is read from its type: ${type}`, () => {
      const parser = () => createPartParser({ headers: { 'content-type': type } }, { fieldMaxBytes: 10 })
      if (boundary === undefined) return expect(parser).to.throw()
      expect(parser().boundary).to.equal(boundary)
      // busboy has found the same one.
      const header = Buffer.from('\r\nContent-Disposition: form-data; name="a"\r\n\r\n')
      expect(parser().parse(header, [Buffer.from('b')])).to.deep.equal({
        kind: 'field',
        field: 'a',
        value: 'b',
      })
    })
})

describe('the file of a form', () => {
  it('is received at the speed of its reader', async () => {
    const CHUNK = Buffer.alloc(64 * 1024)
    let sent = 0
    const body = Readable.from(
      (function* () {
        yield Buffer.from(
          `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`,
        )
        for (; sent < 100; sent += 1) yield CHUNK
        yield Buffer.from(`\r\n--${BOUNDARY}--`)
      })(),
      { objectMode: false },
    )
    const req = Object.assign(body, {
      headers: { 'content-type': MULTIPART, 'transfer-encoding': 'chunked' },
      socket: { bytesRead: 0 },
    }) as unknown as Request
    const { signal } = new AbortController()
    const parts = fileParts(req, { maxFiles: 1, minBytesPerSecond: 0, onField: () => {}, signal })
    const { value: part } = await parts.next()
    for (let i = 0; i < 1000; i += 1) await turn()
    expect(sent).to.be.within(4, 16)
    let length = 0
    for await (const bytes of part?.bytes ?? []) length += bytes.length
    expect(length).to.equal(100 * CHUNK.length)
    expect(await parts.next()).to.deep.equal({ done: true, value: undefined })
  })
})
