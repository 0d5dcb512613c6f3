import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { run } from '../../support/servers/process.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { assetOf, rendered } from './transform.ts'

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif']
const QUERIES = FORMATS.flatMap((f) => [
  `f=${f}&w=70&q=40`,
  ...sized([], [`f=${f}`, `f=${f}&w=70&h=70&maxbytes=900`]),
  ...(f === 'jpeg' ? [] : sized([], [`f=${f}&lossless&icc=keep`])),
])

describe('equal requests', () => {
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
  })
  after(() => rm(folder, { recursive: true }))

  /** Digests of what this process makes of a file. */
  async function digestsHere(bytes: Buffer, format: string): Promise<string[]> {
    const digests: string[] = []
    const source = assetOf(bytes, format)
    for (const query of QUERIES) digests.push(sha256((await rendered({ query, source })).bytes))
    return digests
  }

  /** Digests of what a process of its own makes of a file. */
  async function digests(file: string, format: string): Promise<string[]> {
    const script = [
      '--import=tsx',
      join(PROJECT, 'test', 'support', 'programs', 'digests.ts'),
      file,
      format,
      ...QUERIES,
    ]
    const process = run({ script })
    let printed = ''
    process.child.stdout?.on('data', (text: string) => {
      printed += text
    })
    expect(await process.ended, process.output()).to.equal(0)
    return JSON.parse(printed)
  }

  for (const format of sized(['png'] as const, ['png', 'gif'] as const)) {
    it(`of a ${format} give equal bytes in every format${sized('', ', in another process as well')}`, async () => {
      const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 }
      const create = { width: 90, height: 60, channels: 3 as const, background: '#000', noise }
      const frames = await Promise.all([1, 2].map(() => sharp({ create }).png().toBuffer()))
      const picture =
        format === 'png'
          ? frames[0]
          : await sharp(frames, { join: { animated: true } })
              .gif()
              .toBuffer()
      const file = join(folder, `picture.${format}`)
      await writeFile(file, picture as Buffer)
      // One after the other: two heavy processes are as many as some machines have cores.
      const first = await digestsHere(picture as Buffer, format)
      // Another process takes two seconds to start.
      const second = await (sized(true, false)
        ? digestsHere(picture as Buffer, format)
        : digests(file, format))
      expect(first).to.have.length(QUERIES.length)
      for (const [i, query] of QUERIES.entries()) expect(second[i], query).to.equal(first[i])
      const [jpeg, png] = [first.at(0), first.at(sized(1, 3))]
      expect(jpeg).to.not.equal(png)
    })
  }
})
