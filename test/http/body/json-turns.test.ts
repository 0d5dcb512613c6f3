import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Request } from 'express'
import type { Problem } from '../../../src/core/problem.ts'
import { jsonBody } from '../../../src/http/body/json.ts'

/** A request whose body has arrived. */
function requestOf(json: string): Request {
  const socket = { bytesRead: json.length }
  const headers = { 'content-type': 'application/json', 'content-length': String(json.length) }
  return Object.assign(Readable.from([Buffer.from(json)]), { headers, socket }) as unknown as Request
}

function read(json: string, payer = 'client first'): Promise<unknown> {
  return jsonBody(requestOf(json), { maxBytes: 1_000_000, minBytesPerSecond: 1, payer })
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

  it('are at most 16 of one client and 64 in all in memory, and others are a 503', async () => {
    const large = JSON.stringify(['x'.repeat(100_000)])
    const outcomes = async (payers: readonly string[]) =>
      (await Promise.allSettled(payers.map((payer) => read(large, payer)))).map(({ status }) => status)
    const refused = (all: readonly string[]) => all.filter((status) => status === 'rejected').length
    expect(refused(await outcomes(Array(20).fill('client one')))).to.equal(4)
    const several = Array.from({ length: 70 }, (_, i) => `client ${i % 7}`)
    expect(refused(await outcomes(several))).to.equal(6)
    const error = (await Promise.all(
      Array.from({ length: 17 }, () => read(large).catch((problem) => problem)),
    ).then((all) => all.at(-1))) as Problem
    expect(error).to.include({ status: 503, code: 'unavailable' })
    expect(error.message).to.include('limit 16')
    // All places were given back, also those of bodies that are no JSON.
    await Promise.allSettled(Array.from({ length: 16 }, () => read(`${large},`, 'client one')))
    expect(refused(await outcomes(Array(16).fill('client one')))).to.equal(0)
  })

  it('are not counted when they are small', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => read('[1]')))
    expect(all).to.have.length(200)
  })

  it('are refused without a position, which only a second scan would find', async () => {
    const problem = await read(`["${'\\n'.repeat(100_000)}`).catch((error) => error)
    expect(problem).to.include({
      status: 400,
      message: 'expected a JSON object as the body but received invalid JSON',
    })
  })
})
