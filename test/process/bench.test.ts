import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
// @ts-expect-error: the scripts have no types
import { WORK_NAMES } from '../../scripts/bench/bench.js'
// @ts-expect-error: the scripts have no types
import { tables } from '../../scripts/bench/scale/tables.js'
// @ts-expect-error: the scripts have no types
import { table as markdown, missedTargets, ratiosOf } from '../../scripts/bench/table.js'
import { run } from '../support/servers/process.ts'
import { PROJECT } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Operations on images that the small run tries.
const FEW = sized(['--only', 'resize'], [])

// As large as the widths that are measured.
const SIZE = sized({ width: 1200, height: 800 }, { width: 3000, height: 2000 })
// One colour costs little. With it, a PNG of Sluice has a palette, and one of sharp has none.
const NOISE = sized({}, { noise: { type: 'gaussian' as const, mean: 128, sigma: 30 } })

describe('the benchmark', function () {
  this.timeout(180_000)
  let folder: string
  let photo: string
  beforeEach(async () => {
    folder = await temporaryFolder()
    photo = join(folder, 'photo.jpg')
    await sharp({ create: { ...SIZE, channels: 3, background: '#a52', ...NOISE } }).toFile(photo)
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

  itLong('compares every work with every contender, and leaves no files', async () => {
    const json = join(folder, 'figures.json')
    const works = sized(['--only', 'hot'], [])
    const { code, table, output, left } = await bench('--quick', '--photo', photo, '--json', json, ...works)
    expect(code, output).to.equal(0)
    const [machine, , , , ...rows] = table.trimEnd().split('\n')
    expect(machine).to.match(/^\d{4}-\d\d-\d\d, Node \d+\.\d+\.\d+, \d+ cores \(.+\), \d+ GB/)
    const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
    expect(cells.map(([, , other]) => other)).to.deep.equal([
      ...['express.static', 'node:http from memory', 'nginx'],
      ...sized([], ['express.static', 'express.static', 'express.static']),
      ...sized([], ['ipx', 'node:http + sharp', 'busboy', 'busboy, SHA-256, fsync', 'archiver']),
    ])
    for (const [, , other, ...figures] of cells) {
      // It is not a package of ours, and this must not need the network.
      if ((other === 'ipx' || other === 'nginx') && figures[0] === 'not installed') continue
      // So few requests may take less CPU time than the kernel counts.
      const ratio =
        /^\*\*(\d+\.\d\d|Infinity|NaN)\*\* \([\d.]+ : [\d.]+ (\/s|MB\/s|ms|MB)(, target [\d.]+)?\)$/
      for (const figure of figures.slice(0, 5)) expect(figure, other).to.match(ratio)
    }
    expect(left).to.deep.equal([])
    const { rows: written } = JSON.parse(await readFile(json, 'utf8'))
    expect(written.map(({ other }: { other: string }) => other)).to.deep.equal(
      cells.map(([, , other]) => other),
    )
    expect(written[0]).to.deep.include({ work: 'hot', targets: { cpuMs: 0.2 } })
    expect(written[0].figures.cpuMs).to.have.all.keys('ratio', 'ours', 'theirs')
  })

  it('names the targets that are missed by more than a tenth, and marks disturbed rows', () => {
    const runOf = (rate: number, cpuMs: number, isDisturbed = false) => ({
      ...{ rate, cpuMs, p50Ms: 1, p99Ms: 1, peakBytes: 1, isDisturbed },
    })
    const work = {
      name: 'work',
      title: 'A work',
      contenders: [{ name: 'Sluice' }, { name: 'other', targets: { rate: 1.1, cpuMs: 0.5 } }],
    }
    const rowsOf = (ours: object, theirs: object) =>
      ratiosOf({
        work,
        runs: [
          new Map([
            ['Sluice', ours],
            ['other', theirs],
          ]),
        ],
      })
    expect(missedTargets(rowsOf(runOf(110, 5), runOf(100, 10)))).to.deep.equal([])
    expect(missedTargets(rowsOf(runOf(101, 5.4), runOf(100, 10))), 'within a tenth').to.deep.equal([])
    expect(missedTargets(rowsOf(runOf(99, 5.6), runOf(100, 10)))).to.deep.equal([
      'work: rate is 0.99 of other, the target is 1.1.',
      'work: cpuMs is 0.56 of other, the target is 0.5.',
    ])
    expect(markdown(rowsOf(runOf(110, 5), runOf(100, 10)))).to.not.include('disturbed')
    expect(markdown(rowsOf(runOf(110, 5), runOf(100, 10, true)))).to.include('| A work (disturbed) | other |')
  })

  itLong('compares single transformations with sharp alone, and leaves no files', async () => {
    const { code, table, output, left } = await bench('images', '--quick', '--photo', photo, ...FEW)
    expect(code, output).to.equal(0)
    const [machine, , , , ...all] = table.trimEnd().split('\n')
    expect(machine).to.match(/^\d{4}-\d\d-\d\d, Node \d+\.\d+\.\d+, \d+ cores \(.+\), \d+ GB/)
    // The clock of CPU time has steps of 10 ms: this short run may take none of them.
    expect(all.at(-1)).to.match(
      /^\| all of them, geometric mean \| \*\*[\d.]+\*\* \| \*\*(?:[\d.]+|NaN|Infinity)\*\* \|$/,
    )
    const rows = all.slice(0, -1)
    expect(rows).to.have.length.above(sized(0, 15))
    for (const row of rows) {
      const figures =
        /^\| [a-z0-9-]+ \| \*\*[\d.]+\*\* \([\d.]+ : [\d.]+ \/s\) \| \*\*(?:[\d.]+|NaN|Infinity)\*\* \([\d.]+ : [\d.]+ ms\) \|$/
      expect(row).to.match(figures)
    }
    expect(rows.map((row) => row.split(' ')[1])).to.include.members(
      sized(['resize'], ['resize', 'watermark', 'avif']),
    )
    expect(left).to.deep.equal([])
  })

  if (sized(false, true))
    it('compares videos and frames with ffmpeg called by hand, and leaves no files', async () => {
      const { code, table, output, left } = await bench('videos', '--quick')
      expect(code, output).to.equal(0)
      const [machine, , , , ...rows] = table.trimEnd().split('\n')
      expect(machine).to.match(/^\d{4}-\d\d-\d\d, Node \d+\.\d+\.\d+, \d+ cores \(.+\), \d+ GB/)
      expect(rows).to.have.length(2)
      for (const row of rows) {
        const figure = String.raw`\*\*[\d.]+\*\* \([\d.]+ : [\d.]+ ms\)`
        expect(row).to.match(new RegExp(String.raw`^\| [^|]+ \| ${figure} \| ${figure} \|$`))
      }
      expect(left).to.deep.equal([])
    })

  if (sized(false, true))
    it('measures starts, and leaves no files', async () => {
      const { code, table, output, left } = await bench('starts', '--quick')
      expect(code, output).to.equal(0)
      const rows = table.trimEnd().split('\n').slice(4)
      expect(rows.map((row) => row.replaceAll(/\d+\.\d+/g, '#'))).to.deep.equal([
        '| Sluice | # s | # s |',
        '| `express.static` | # s | # s |',
      ])
      expect(left).to.deep.equal([])
    })

  if (sized(false, true))
    it('measures how costs grow with the number of files, and leaves no files and no servers', async () => {
      const json = join(folder, 'scale.json')
      const indexes = ['embedded', 'redis', 'cluster']
      const { code, table, output, left } = await bench('scale', '--quick', '--photo', photo, '--json', json)
      expect(code, output).to.equal(0)
      expect(left).to.deep.equal([])
      const { rows } = JSON.parse(await readFile(json, 'utf8'))
      const of = (work: string, index: string) =>
        rows.find((row: { work: string; index: string }) => row.work === work && row.index === index)?.figures
      for (const index of indexes) {
        // 17 to 27 terms of a search, five lists, and a record. In a cluster, partitions and connections add more than so few files.
        const most = index === 'cluster' ? 50_000 : 10_000
        expect(of('process', index).indexBytesPerFile, index).to.be.within(300, most)
        expect(of('process', index).startSeconds, index).to.be.above(0.1)
        for (const work of ['delivery', 'list, a deep page', 'search, one file matches', 'upload', 'delete'])
          expect(of(work, index).p50Ms, `${work}, ${index}`).to.be.above(0)
      }
      // One read of the index for each delivered file; other work of the service needs a few more.
      for (const index of indexes.slice(1))
        expect(of('delivery', index).redis.commands, index).to.be.within(1, 3)
      expect(of('process', 'cluster').nodeShares.cpu).to.have.length(2)
      expect(of('delivery', 'embedded')).to.not.have.property('redis')
      // The bench fails when a file differs.
      expect(of('unchanged files, processes: 2', 'redis').seconds).to.be.above(0)
      expect(table).to.match(/^\| delete, cluster index \| [\d.]+ · [\d.]+/m)
    })

  it('has a table of costs, one of Redis, and one of processes', () => {
    const redis = { roundTrips: 2, commands: 3, bytes: 4000, cpuMs: 0.05 }
    const unchanged = { seconds: 9, cpuMicros: 70, redisMicros: 14, s3Micros: 16, otherCores: 0.1 }
    const figures = { cpuMs: 1, p50Ms: 2, rate: 3000, p99Ms: 4, residentBytes: 5e6, redis }
    const rows = [
      { group: 'files', index: 'redis', count: 1000, work: 'delete', figures },
      { group: 'files', index: 'redis', count: 10, work: 'delete', figures },
      { group: 'processes', index: 'redis', count: 2, work: 'from memory', figures },
      { group: 'processes', index: 'cluster', count: 2, files: 1000, work: 'list', figures },
      { group: 'unchanged', index: 'redis', count: 1000, work: 'unchanged files', figures: unchanged },
    ]
    const lines = tables(rows).split('\n')
    expect(lines).to.include.members([
      '| CPU time · median time, ms | 10 files | 1,000 files |',
      '| delete, redis index | 1 · 2 | 1 · 2 |',
      '| delete, redis | 2 · 3 · 4 · 50 | 2 · 3 · 4 · 50 |',
      '| Figure | 2 web processes |',
      '| from memory, redis: Requests per second | 3000 |',
      '| list, cluster with 1,000 files: Requests per second | 3000 |',
      '| unchanged files, redis: Time, s | 9 |',
    ])
  })

  itLong('lists the transformations for an unknown name', async () => {
    const { code, output } = await bench('images', '--only', 'blur,sepia')
    expect(code).to.equal(1)
    expect(output).to.match(/expected some of resize, .*blur, .*avif for --only, received "sepia"/)
    const files = await bench('scale', '--files', '10,many')
    expect(files.code).to.equal(1)
    expect(files.output).to.include('expected integers from 1 for --files, received "10,many"')
    const indexes = await bench('scale', '--indexes', 'redis,disk')
    expect(indexes.code).to.equal(1)
    expect(indexes.output).to.include(
      'expected some of embedded, redis, cluster for --indexes, received "disk"',
    )
    const other = await bench('pictures')
    expect(other.code).to.equal(1)
    expect(other.output).to.include(
      'expected images, bytes, videos, starts, encoders, scale or nothing, received "pictures"',
    )
  })

  it('has only known works in the examples of its documentation', async () => {
    for (const file of ['scripts/bench.js', 'docs/explanation/performance.md']) {
      const text = await readFile(join(PROJECT, file), 'utf8')
      const examples = [...text.matchAll(/npm run (?:-s )?bench -- --only ([\w,-]+)/g)]
      const names = examples.flatMap(([, only = '']) => only.split(','))
      expect(names, file).to.be.an('array').that.is.not.empty
      expect(WORK_NAMES, file).to.include.members(names)
    }
  })

  itLong('lists the works for an unknown name', async () => {
    const { code, output } = await bench('--only', 'hot,warm')
    expect(code).to.equal(1)
    expect(output).to.match(/expected some of first-jpeg, .*, hot, .*, zip for --only, received "warm"/)
  })
})
