import { expect } from 'chai'
import { MIB } from '../support/heavy.ts'
import { sound } from '../support/media/videos.ts'
import { uploadOne } from '../support/requests/client.ts'
import { getFrom, onLoopback, photo } from './attack.ts'
import { attackedServer, watched } from './attacked.ts'

// H7 of docs/explanation/security.md.
describe('long: a stranger who fills the disk with derivatives', function () {
  this.timeout(600_000)
  const server = attackedServer()

  /** What all derivatives of a file may have together: docs/explanation/derivatives.md. */
  const allowed = (bytes: Buffer) => Math.max(256_000_000, 50 * bytes.length)

  const outcomeOf = async (url: string) => {
    for (let i = 0; i < 30; i += 1) {
      const status = await getFrom('127.0.0.2', `${url}&wait=10`)
      if (status !== 423) return status
    }
    return 423
  }

  it('stores WAVs of an MP3 of twenty minutes only up to the derivative limit', async () => {
    const bytes = await sound({
      format: 'mp3',
      seconds: 1200,
      options: ['-b:a', '64k', '-ac', '2', '-ar', '44100'],
    })
    const { src } = await uploadOne(server(), { name: 'a.mp3', bytes })
    const before = await server().diskBytes()
    const url = onLoopback(src, server().url)
    const { outcome } = await watched(server(), async () => {
      const statuses: number[] = []
      for (let i = 1; i <= 8; i += 1) statuses.push(await outcomeOf(`${url}?f=wav&start=0.${i}`))
      return statuses
    })
    const added = (await server().diskBytes()) - before
    console.log(
      `      ${JSON.stringify({ statuses: outcome, mp3: bytes.length, addedMib: Math.round(added / MIB) })}`,
    )
    expect(added).to.be.below(allowed(bytes) + 2 * MIB)
  })

  it('is refused a WAV of 40 KB of silent FLAC, and nothing is stored', async () => {
    const silence = 'anullsrc=channel_layout=7.1:sample_rate=192000'
    const bytes = await sound({ format: 'flac', source: silence, options: ['-t', '300'] })
    const { src } = await uploadOne(server(), { name: 'a.flac', bytes })
    const before = await server().diskBytes()
    const { outcome } = await watched(server(), () => outcomeOf(`${onLoopback(src, server().url)}?f=wav`))
    const added = (await server().diskBytes()) - before
    console.log(
      `      ${JSON.stringify({ status: outcome, flac: bytes.length, addedMib: Math.round(added / MIB) })}`,
    )
    expect(outcome).to.equal(422)
    expect(added).to.be.below(MIB)
  })

  it('stores enlarged PNGs only up to the derivative limit', async () => {
    const bytes = await photo({ width: 3000, height: 2000 })
    const { src } = await uploadOne(server(), { name: 'a.jpg', bytes })
    const before = await server().diskBytes()
    const url = onLoopback(src, server().url)
    const { figures } = await watched(server(), async () => {
      for (let w = 4985; w <= 5000; w += 1)
        await getFrom('127.0.0.2', `${url}?enlarge&w=${w}&h=5000&fit=fill&f=png`)
    })
    const added = (await server().diskBytes()) - before
    console.log(`      ${JSON.stringify({ photo: bytes.length, addedMib: Math.round(added / MIB) })}`)
    expect(added).to.be.below(allowed(bytes) + 2 * MIB)
    expect(figures.health.p50).to.be.below(100)
  })
})
