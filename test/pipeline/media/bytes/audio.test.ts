import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { programEnvironment } from '../../../../config/programs.ts'
import { readAll } from '../../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../../src/core/media/formats.ts'
import { createAudioEngine } from '../../../../src/engines/audio/audio.ts'
import { isCopied, kilobitsOf, type LossyFormat } from '../../../../src/engines/audio/rate.ts'
import type { AudioDraft } from '../../../../src/engines/audio/source.ts'
import type { LoadedPlugin } from '../../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../../src/pipeline/run/run.ts'
import { heard } from '../../../support/media/sounds.ts'
import { sound } from '../../../support/media/videos.ts'
import { sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { context } from '../../image/transform.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { knownAsset } from '../known-asset.ts'

// Noise needs every bit that it may have.
const NOISE = `anoisesrc=d=${sized(2, 6)}:a=0.3:r=44100`
// Each with the outputs that `npm test` renders: of an older, the same and a newer codec. The rule itself is tested for all.
const SOURCES = [
  ['mp3', 'mp3', ['-b:a', '48k', '-ac', '1'], 0, ['mp3', 'opus']],
  ['mp3', 'mp3', ['-b:a', '96k', '-ac', '2'], 0, ['m4a', 'ogg']],
  ['m4a', 'aac', ['-b:a', '64k', '-ac', '2'], 1, ['m4a', 'mp3']],
  ['ogg', 'vorbis', ['-c:a', 'libvorbis', '-b:a', '64k', '-ac', '2'], 1, ['ogg', 'opus']],
  ['opus', 'opus', ['-b:a', '40k', '-ac', '1'], 2, ['opus', 'm4a']],
] as const
const GENERATIONS = { mp3: 0, m4a: 1, ogg: 1, opus: 2 }
const OUTPUTS = ['mp3', 'm4a', 'ogg', 'opus'] as const
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
      return await readAll(await run(createPlanner(transforms, [])(input), knownAsset(bytes, format), given))
    } finally {
      for (const remove of leftovers) await remove()
    }
  }

  for (const [format, codec, options, generation, usual] of SOURCES.filter((_, i) => i % sized(4, 1) === 0))
    it(`are no more than those of ${format} (${options.join(' ')})`, async () => {
      const source = await sound({ source: NOISE, format, options })
      const { kilobits, channels } = await heard(source)
      for (const output of sized<readonly LossyFormat[]>(usual, OUTPUTS)) {
        const bytes = await made(source, `f=${output}`, format)
        const most = source.length * (GENERATIONS[output] < generation ? OF_OLDER_CODEC : 1)
        expect(bytes.length, output).to.be.at.most(Math.ceil(most) + 2048)
        expect((await heard(bytes)).channels).to.equal(channels)
      }
      if (channels === 1) return
      const explicit = await heard(await made(source, `f=${codec === 'mp3' ? 'mp3' : 'm4a'}&br=128`, format))
      expect(explicit.kilobits).to.be.greaterThan(kilobits)
    })

  for (const [codec, generation] of [
    ['mp3', 0],
    ['aac', 1],
    ['vorbis', 1],
    ['opus', 2],
  ] as const)
    for (const output of OUTPUTS)
      for (const channels of [1, 2])
        it(`of ${codec}, ${channels} channels: as ${output}, the bit rate is at most that of the source, unless one is requested`, () => {
          for (let source = 48; source <= 320; source += 8) {
            const known = { audioCodec: codec, bitRate: 1000 * source, channels }
            const draft = { input: { source: known } } as unknown as AudioDraft
            const room = source * (GENERATIONS[output] < generation ? OF_OLDER_CODEC : 1)
            expect(kilobitsOf(draft, output), `${source} kbit/s`).to.be.within(24, Math.min(128, room))
            expect(kilobitsOf({ ...draft, kilobits: 200 }, output)).to.equal(200)
          }
        })

  it('are those of the source only without a change, and when it has hardly more than ours would have', () => {
    const known = { audioCodec: 'aac', bitRate: 140_000, channels: 2 }
    const draft = { input: { source: known, demuxer: 'mov' } } as unknown as AudioDraft
    const of = (source: object) => isCopied({ input: { ...draft.input, source } } as AudioDraft, 'm4a')
    expect(isCopied(draft, 'm4a')).to.equal(true)
    for (const change of [{ kilobits: 96 }, { startSeconds: 1 }, { endSeconds: 1 }, { isNormalized: true }])
      expect(isCopied({ ...draft, ...change }, 'm4a'), JSON.stringify(change)).to.equal(false)
    for (const other of [
      { audioCodec: 'mp3' },
      { bitRate: 142_000 },
      { bitRate: undefined },
      { channels: 6 },
    ])
      expect(of({ ...known, ...other }), JSON.stringify(other)).to.equal(false)
    for (const format of ['mp3', 'ogg', 'opus', 'wav', 'flac'] as const)
      expect(isCopied(draft, format), format).to.equal(false)
  })

  it('are copied when their stream fits, and encoded for any change', async () => {
    const source = await sound({
      source: NOISE,
      format: 'm4a',
      options: ['-b:a', '96k', '-metadata', 'title=x'],
    })
    expect((await heard(source)).tags).to.have.property('title')
    const copy = await made(source, 'f=m4a', 'm4a')
    // Copied packets decode to the same samples; those that were encoded again do not.
    const samples = (bytes: Buffer) => made(bytes, 'f=wav', 'm4a')
    const original = await samples(source)
    expect((await samples(copy)).equals(original)).to.equal(true)
    expect((await heard(copy)).tags).not.to.have.property('title')
    for (const query of sized(['f=m4a&start=1'], ['f=m4a&br=96', 'f=m4a&start=1', 'f=m4a&loudnorm']))
      expect((await samples(await made(source, query, 'm4a'))).equals(original), query).to.equal(false)
    const large = await sound({ source: NOISE, format: 'mp3', options: ['-b:a', '320k'] })
    expect((await heard(await made(large, 'f=mp3', 'mp3'))).kilobits).to.be.closeTo(128, 2)
  })
})
