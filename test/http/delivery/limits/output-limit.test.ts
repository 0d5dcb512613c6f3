import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { picture } from '../../../support/media/images.ts'
import { uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'
import { itLong } from '../../../support/sized.ts'
import { settled } from '../../../support/stored/settled.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** A FLAC of silence: a few bytes a second, whatever its rate. */
async function silence({ seconds, channels, rate }: { seconds: number; channels: string; rate: number }) {
  const folder = await temporaryFolder()
  const path = join(folder, 'silence.flac')
  const source = `anullsrc=r=${rate}:cl=${channels}`
  await promisify(execFile)('ffmpeg', [
    ...['-f', 'lavfi', '-t', String(seconds), '-i', source, '-compression_level', '0', path],
  ])
  const bytes = await readFile(path)
  await rm(folder, { recursive: true })
  return bytes
}

describe('the output limit of transformations', () => {
  let service: Service
  before(async () => {
    service = await startService({ env: { OUTPUT_MAX_BYTES: '100000' } })
  })
  after(() => service.stop())

  async function expectRefused({ src, s3PathOriginal }: WireRecord, query: string, limit: number) {
    const answer = jsonOf(await exchange(service, `${src}?${query}`))
    expect(answer, JSON.stringify(answer)).to.include({ status: 422, code: 'output_too_large', limit })
    await settled(service)
    expect((await service.objects()).filter((key) => key.includes(`${s3PathOriginal}_`))).to.deep.equal([])
  }

  it('responds 422 to an output over the limit in bytes, and does not store it', async () => {
    const photo = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await expectRefused(photo, 'w=3000&enlarge&f=png&lossless', 100_000)
    expect((await exchange(service, `${photo.src}?w=20`)).status).to.equal(200)
  })

  itLong('responds 422 when ffmpeg exceeds it, and before ffmpeg starts when the size is known', async () => {
    const bytes = await silence({ seconds: 20, channels: 'stereo', rate: 44_100 })
    const sound = await uploadOne(service, { name: 'a.flac', bytes })
    await expectRefused(sound, 'f=mp3&br=128&wait=30', 100_000)
    await expectRefused(sound, 'f=wav&wait=30', 100_000)
    expect((await exchange(service, `${sound.src}?f=wav&end=0.5&wait=30`)).status).to.equal(200)
  })

  itLong('is at most the total size that the derivatives of a file may have', async () => {
    const roomy = await startService()
    const bytes = await silence({ seconds: 90, channels: '7.1', rate: 192_000 })
    const { src } = await uploadOne(roomy, { name: 'a.flac', bytes })
    const answer = jsonOf(await exchange(roomy, `${src}?f=wav&wait=30`))
    expect(answer).to.include({ status: 422, code: 'output_too_large', limit: 256_000_000 })
    await roomy.stop()
  })
})
