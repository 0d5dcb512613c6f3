import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
import { type Asset, readAll } from '../../../src/core/bytes/asset.ts'
import { remuxed, video } from '../../support/media/videos.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { transform } from '../image/transform.ts'
import { knownAsset } from './known-asset.ts'
import { type MakeVideo, videoMaker } from './video-maker.ts'

const execute = promisify(execFile)
const ENCODERS = { vp8: 'libvpx', vp9: 'libvpx-vp9' }

describe('a video with transparency', () => {
  let folder: string
  let make: MakeVideo
  before(async () => {
    folder = await temporaryFolder()
    make = await videoMaker(join(folder, 'scratch'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** A red square on the left of nothing, for a second. */
  const newSticker = async (codec: keyof typeof ENCODERS) => {
    const picture = 'color=red@1:s=64x48:r=5:d=1,format=rgba'
    const left = "geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,W/2),255,0)'"
    const encoder = ['-c:v', ENCODERS[codec], '-pix_fmt', 'yuva420p', '-auto-alt-ref', '0', '-b:v', '1M']
    return remuxed(await video(), ['-map', '1:v', '-vf', left, ...encoder], {
      inputs: ['-f', 'lavfi', '-i', picture],
      format: 'webm',
    })
  }

  const stickers = new Map<keyof typeof ENCODERS, Promise<Buffer>>()
  const sticker = (codec: keyof typeof ENCODERS) => {
    const bytes = stickers.get(codec) ?? newSticker(codec)
    stickers.set(codec, bytes)
    return bytes
  }

  /** The colours of the first frame, left and right, as a browser decodes it. */
  async function sides(bytes: Uint8Array, decoder?: string): Promise<number[][]> {
    const file = join(folder, 'seen')
    await writeFile(file, bytes)
    const args = ['-v', 'error', ...(decoder ? ['-c:v', decoder] : []), '-i', file]
    const { stdout } = await execute(
      'ffmpeg',
      [...args, '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', '-pix_fmt', 'rgba', '-'],
      { encoding: 'buffer', maxBuffer: 1e7 },
    )
    return sidesOf(stdout)
  }

  async function sidesOf(bytes: Uint8Array): Promise<number[][]> {
    const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    return [0.25, 0.75].map((part) => {
      const at = 4 * (Math.floor(info.height / 2) * info.width + Math.floor(info.width * part))
      return [...data.subarray(at, at + 4)]
    })
  }

  const RED = [255, 0, 0, 255]
  const WHITE = [255, 255, 255, 255]
  const expectColour = (seen: number[] | undefined, colour: number[]) => {
    for (const [i, value] of colour.entries()) expect(seen?.[i], `${seen}`).to.be.closeTo(value, 14)
  }

  for (const codec of sized(['vp9'] as const, ['vp8', 'vp9'] as const)) {
    it(`of ${codec} has transparent thumbnails, on white as JPEG, on bg in any format`, async () => {
      const source = await sticker(codec)
      for (const [query, right] of everyNth(2, [
        ['thumbnail&f=png', undefined],
        ['thumbnail&f=webp&w=32', undefined],
        ['thumbnail', WHITE],
        ['thumbnail&bg=00f', [0, 0, 255, 255]],
      ] as const)) {
        const { bytes, metadata } = await transform({ query, source: knownAsset(source, 'webm') })
        expect(metadata.format).to.equal(/f=(\w+)/.exec(query)?.[1] ?? 'jpeg')
        const [seenLeft, seenRight] = await sidesOf(bytes)
        expectColour(seenLeft, RED)
        if (right) expectColour(seenRight, [...right])
        else expect(seenRight?.[3], query).to.equal(0)
      }
    })

    it(`of ${codec} is transparent as WebM, and on white as MP4`, async () => {
      const source = await sticker(codec)
      for (const query of ['f=webm', 'f=webm&w=32']) {
        const { bytes } = await make(source, query, { format: 'webm' })
        const isCopy = query === 'f=webm'
        const [left, right] = await sides(bytes, ENCODERS[isCopy ? codec : 'vp9'])
        expectColour(left, RED)
        expect(right?.[3], query).to.be.at.most(3)
      }
      for (const query of everyNth(2, ['f=mp4', 'f=mp4&w=32'])) {
        const [left, right] = await sides((await make(source, query, { format: 'webm' })).bytes)
        expectColour(left, RED)
        expectColour(right, WHITE)
      }
    })
  }

  itLong('is on white in a stream and in a storyboard', async () => {
    const source = await sticker('vp9')
    const parts = new Map<string, Buffer>()
    const storePart = async (name: string, part: Asset) => void parts.set(name, await readAll(part))
    const stream = await make(source, 'hls', { format: 'webm', storePart })
    expect(stream.mediaType).to.equal('application/vnd.apple.mpegurl')
    const init = [...parts].find(([name]) => name.endsWith('.mp4'))?.[1]
    const segment = [...parts].find(([name]) => name.endsWith('.m4s'))?.[1]
    const [left, right] = await sides(Buffer.concat([init ?? Buffer.alloc(0), segment ?? Buffer.alloc(0)]))
    expectColour(left, RED)
    expectColour(right, WHITE)
    parts.clear()
    await make(source, 'storyboard', { format: 'webm', storePart })
    const sprite = [...parts].find(([name]) => name.endsWith('.jpg'))?.[1]
    const [tileLeft, tileRight] = await sidesOf(sprite ?? Buffer.alloc(0))
    expectColour(tileLeft, RED)
    expectColour(tileRight, WHITE)
  })
})
