import { createHash } from 'node:crypto'
import { get } from 'node:http'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { MIB } from '../../support/heavy.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'

const FILES = 4
const READERS = sized(24, 60)
const AT_ONCE = sized(12, 30)

const digestOf = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex')

// Memory of pieces is used again and again: each client has to get the bytes of its own file.
describe('many readers of several files', () => {
  const start = stoppedAtTheEnd(startService)

  it('get the bytes of their own file at any speed, in pieces, while others disconnect', async () => {
    const service = await start({ env: NO_LIMITS })
    const files = await Promise.all(
      Array.from({ length: FILES }, async (_, i) => {
        const bytes = noise(sized(4, 12) * MIB + i * 77_777)
        const { src } = await uploadOne(service, { name: `${i}.bin`, bytes })
        return { url: `${service.url}${new URL(src).pathname}`, bytes }
      }),
    )

    /** @param number says how it reads. @returns whether the bytes are right; undefined when it leaves */
    const read = (number: number) =>
      new Promise<boolean | undefined>((resolve, reject) => {
        const { url, bytes } = files[number % FILES] as (typeof files)[number]
        const from = number % 3 === 0 ? number * 10_000 : 0
        const isSlow = number % 2 === 1
        const leaves = number % 7 === 5
        const headers = from > 0 ? { Range: `bytes=${from}-` } : {}
        get(url, { agent: false, headers }, (response) => {
          const hash = createHash('sha1')
          let length = 0
          response.on('data', (chunk: Buffer) => {
            hash.update(chunk)
            length += chunk.length
            if (leaves && length > MIB) response.destroy()
            else if (isSlow && length < 2 * MIB) {
              // Until the kernel takes no more of it.
              response.pause()
              setTimeout(() => response.resume(), 20)
            }
          })
          response.once('end', () => resolve(hash.digest('hex') === digestOf(bytes.subarray(from))))
          response.once('close', () => (leaves ? resolve(undefined) : reject(new Error('it broke'))))
        }).once('error', reject)
      })

    let next = 0
    const outcomes: Array<boolean | undefined> = []
    const reader = async () => {
      while (next < READERS) outcomes.push(await read(next++))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, reader))
    expect(outcomes.filter((isRight) => isRight === false)).to.be.empty
    expect(outcomes.filter((isRight) => isRight).length).to.be.above(READERS / 2)
  })
})
