import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Request } from 'express'
import { jsonBody } from '../../../src/http/body/json.ts'

/** A request whose body has arrived. */
function requestOf(json: string): Request {
  const socket = { bytesRead: json.length }
  const headers = { 'content-type': 'application/json', 'content-length': String(json.length) }
  return Object.assign(Readable.from([Buffer.from(json)]), { headers, socket }) as unknown as Request
}

function read(json: string): Promise<unknown> {
  return jsonBody(requestOf(json), { maxBytes: 1_000_000, minBytesPerSecond: 1 })
}

describe('large JSON bodies', () => {
  it('are parsed in different turns of the event loop, and small ones at once', async () => {
    const turnsOf = async (json: string) => {
      let turn = 0
      let isOver = false
      const count = (async () => {
        for (; !isOver; turn += 1) await nextTurn()
      })()
      const turns = await Promise.all(Array.from({ length: 4 }, () => read(json).then(() => turn))).finally(
        () => {
          isOver = true
        },
      )
      await count
      return new Set(turns).size
    }
    const large = JSON.stringify(['x'.repeat(100_000)])
    expect(await turnsOf(large)).to.equal(4)
    expect(await turnsOf('[1]')).to.equal(1)
  })

  it('are refused without a position, which only a second scan would find', async () => {
    const problem = await read(`["${'\\n'.repeat(100_000)}`).catch((error) => error)
    expect(problem).to.include({
      status: 400,
      message: 'expected a JSON object as the body but received invalid JSON',
    })
  })
})
