import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { run } from '../support/servers/process.ts'
import { PROJECT } from '../support/service.ts'
import { sized } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Operations on images that the small run tries.
const FEW = sized(['--only', 'resize,watermark,avif'], [])

// As large as the widths that are measured.
const SIZE = sized({ width: 1200, height: 800 }, { width: 3000, height: 2000 })

describe('the benchmark', function () {
  this.timeout(180_000)
  let folder: string
  /** Of one colour, so that it costs little. */
  let photo: string
  beforeEach(async () => {
    folder = await temporaryFolder()
    photo = join(folder, 'photo.jpg')
    await sharp({ create: { ...SIZE, channels: 3, background: '#a52' } }).toFile(photo)
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** With a folder for temporary files of its own, to see what is left there. */
  async function bench(...args: string[]) {
    const temporary = join(folder, 'tmp')
    await mkdir(temporary, { recursive: true })
    const running = run({ script: [join(PROJECT, 'scripts/bench.js'), ...args], env: { TMPDIR: temporary } })
    let table = ''
    running.child.stdout?.on('data', (text: string) => {
      table += text
    })
    const code = await running.ended
    return { code, table, output: running.output(), left: await readdir(temporary) }
  }

  it('compares every work with every contender, and leaves no files', async () => {
    const { code, table, output, left } = await bench('--quick', '--photo', photo)
    expect(code, output).to.equal(0)
    const [machine, , , , ...rows] = table.trimEnd().split('\n')
    expect(machine).to.match(/^\d{4}-\d\d-\d\d, Node \d+\.\d+\.\d+, \d+ cores \(.+\), \d+ GB/)
    const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
    expect(cells.map(([, , other]) => other)).to.deep.equal([
      ...['ipx', 'node:http + sharp', 'express.static', 'busboy'],
      ...['busboy, SHA-256, fsync', 'archiver'],
    ])
    for (const [, , other, ...figures] of cells) {
      // It is not a package of ours, and this must not need the network.
      if (other === 'ipx' && figures[0] === 'not installed') continue
      const ratio = /^\*\*\d+\.\d\d\*\* \([\d.]+ : [\d.]+ (\/s|MB\/s|ms|MB)\)$/
      for (const figure of figures.slice(0, 5)) expect(figure, other).to.match(ratio)
    }
    expect(left).to.deep.equal([])
  })

  it('compares single transformations with sharp alone, and leaves no files', async () => {
    const { code, table, output, left } = await bench('images', '--quick', '--photo', photo, ...FEW)
    expect(code, output).to.equal(0)
    const [machine, , , , ...all] = table.trimEnd().split('\n')
    expect(machine).to.match(/^\d{4}-\d\d-\d\d, Node \d+\.\d+\.\d+, \d+ cores \(.+\), \d+ GB/)
    expect(all.at(-1)).to.match(/^\| all of them, geometric mean \| \*\*[\d.]+\*\* \| \*\*[\d.]+\*\* \|$/)
    const rows = all.slice(0, -1)
    expect(rows).to.have.length.above(sized(2, 15))
    for (const row of rows) {
      const figures =
        /^\| [a-z0-9-]+ \| \*\*[\d.]+\*\* \([\d.]+ : [\d.]+ \/s\) \| \*\*[\d.]+\*\* \([\d.]+ : [\d.]+ ms\) \|$/
      expect(row).to.match(figures)
    }
    expect(rows.map((row) => row.split(' ')[1])).to.include.members(['resize', 'watermark', 'avif'])
    expect(left).to.deep.equal([])
  })

  it('compares videos and frames with ffmpeg called by hand, and leaves no files', async () => {
    const { code, table, output, left } = await bench(
      'videos',
      '--quick',
      ...sized(['--only', 'thumbnail'], []),
    )
    expect(code, output).to.equal(0)
    const [machine, , , , ...rows] = table.trimEnd().split('\n')
    expect(machine).to.match(/^\d{4}-\d\d-\d\d, Node \d+\.\d+\.\d+, \d+ cores \(.+\), \d+ GB/)
    expect(rows).to.have.length(sized(1, 2))
    for (const row of rows) {
      const figure = String.raw`\*\*[\d.]+\*\* \([\d.]+ : [\d.]+ ms\)`
      expect(row).to.match(new RegExp(String.raw`^\| [^|]+ \| ${figure} \| ${figure} \|$`))
    }
    expect(left).to.deep.equal([])
  })

  it('lists the transformations for an unknown name', async () => {
    const { code, output } = await bench('images', '--only', 'blur,sepia')
    expect(code).to.equal(1)
    expect(output).to.match(/expected some of resize, .*blur, .*avif for --only, received "sepia"/)
    const other = await bench('pictures')
    expect(other.code).to.equal(1)
    expect(other.output).to.include('expected images, videos or nothing, received "pictures"')
  })

  it('lists the works for an unknown name', async () => {
    const { code, output } = await bench('--only', 'cold,warm')
    expect(code).to.equal(1)
    expect(output).to.include('expected some of cold, repeated, upload, zip for --only, received "warm"')
  })
})
