import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { programEnvironment } from '../../../../config/programs.ts'
import { readAll } from '../../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../../src/core/media/formats.ts'
import { createAudioEngine } from '../../../../src/engines/audio/audio.ts'
import type { LoadedPlugin } from '../../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../../src/pipeline/run/run.ts'
import { heard } from '../../../support/media/sounds.ts'
import { sound } from '../../../support/media/videos.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { assetOf, context } from '../../image/transform.ts'
import { loadWith } from '../../load/drop-ins.ts'

// Noise needs every bit that it may have.
const NOISE = 'anoisesrc=d=6:a=0.3:r=44100'
const SOURCES = [
  ['mp3', 'mp3', ['-b:a', '48k', '-ac', '1'], 0],
  ['mp3', 'mp3', ['-b:a', '96k', '-ac', '2'], 0],
  ['m4a', 'aac', ['-b:a', '64k', '-ac', '2'], 1],
  ['ogg', 'vorbis', ['-c:a', 'libvorbis', '-b:a', '64k', '-ac', '2'], 1],
  ['opus', 'opus', ['-b:a', '40k', '-ac', '1'], 2],
] as const
const OUTPUTS = [
  ['mp3', 0],
  ['m4a', 1],
  ['ogg', 1],
  ['opus', 2],
] as const
// An older codec needs more bits for the same sound.
const OF_OLDER_CODEC = 1.6

describe('the bytes of audio', () => {
  let folder: string
  let transforms: readonly LoadedPlugin[]
  let run: ReturnType<typeof createRunner>
  before(async () => {
    folder = await temporaryFolder()
    run = createRunner(new Map([['ffmpeg-audio', createAudioEngine({ folder, env: programEnvironment() })]]))
    transforms = (await loadWith({})).transforms
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function made(bytes: Uint8Array, query: string, format: string): Promise<Buffer> {
    const input = { query: new URLSearchParams(query), preferences: {}, format: knownFormat(format) }
    const leftovers: Array<() => Promise<void>> = []
    try {
      const given = context({ afterwards: (remove) => void leftovers.push(remove) })
      return await readAll(await run(createPlanner(transforms, [])(input), assetOf(bytes, format), given))
    } finally {
      for (const remove of leftovers) await remove()
    }
  }

  for (const [format, codec, options, generation] of SOURCES)
    it(`are no more than those of ${format} (${options.join(' ')})`, async () => {
      const source = await sound({ source: NOISE, format, options })
      const { kilobits, channels } = await heard(source)
      for (const [output, newer] of OUTPUTS) {
        const bytes = await made(source, `f=${output}`, format)
        const most = source.length * (newer < generation ? OF_OLDER_CODEC : 1)
        expect(bytes.length, output).to.be.at.most(Math.ceil(most) + 2048)
        expect((await heard(bytes)).channels).to.equal(channels)
      }
      const explicit = await heard(await made(source, `f=${codec === 'mp3' ? 'mp3' : 'm4a'}&br=128`, format))
      expect(explicit.kilobits).to.be.greaterThan(kilobits)
    })

  it('are copied when their stream fits, and encoded for any change', async () => {
    const source = await sound({
      source: NOISE,
      format: 'm4a',
      options: ['-b:a', '96k', '-metadata', 'title=x'],
    })
    const copy = await made(source, 'f=m4a', 'm4a')
    // Copied packets decode to the same samples; those that were encoded again do not.
    const samples = async (bytes: Buffer) => (await made(bytes, 'f=wav', 'm4a')).toString('base64')
    const original = await samples(source)
    expect((await samples(copy)) === original).to.equal(true)
    expect((await heard(copy)).tags).not.to.have.property('title')
    for (const query of ['f=m4a&br=96', 'f=m4a&start=1', 'f=m4a&loudnorm'])
      expect((await samples(await made(source, query, 'm4a'))) === original, query).to.equal(false)
    const large = await sound({ source: NOISE, format: 'mp3', options: ['-b:a', '320k'] })
    expect((await heard(await made(large, 'f=mp3', 'mp3'))).kilobits).to.be.closeTo(128, 2)
  })
})
