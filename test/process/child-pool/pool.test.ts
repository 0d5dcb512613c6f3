import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { transformerEnvironment } from '../../../config/programs.ts'
import { type Asset, assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import type { Task } from '../../../src/core/ports/children.ts'
import { fileNotFound, Problem } from '../../../src/core/problem.ts'
import { createPool, type Pool, type PoolOptions } from '../../../src/process/child-pool/pool.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import type { Deed } from '../../support/programs/apart-worker.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { rejection } from '../../support/rejection.ts'
import { PROJECT, type RecordedLog, recordLog } from '../../support/service.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'

// Built: under tsx a child loads its modules in another thread, whose files it closes with those that it has inherited.
const WORKER = await builtScript('apart-worker')
const PARENT = await builtScript('apart-parent')
const MAX_MEMORY_BYTES = 400_000_000

const file = (bytes: Uint8Array) =>
  assetFromBytes(bytes, { mediaType: 'image/png', lastModified: new Date(5000) })

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const gone = (pid: number) =>
  eventually(() => expect(isAlive(pid), `${pid} lives`).to.equal(false), { withinMs: LONG_MS })

describe('a pool of child processes', function () {
  this.timeout(120_000)
  const { execArgv } = process
  before('start children without the loader of this process', () => {
    process.execArgv = []
  })
  after(() => {
    process.execArgv = execArgv
  })
  let pool: Pool
  let log: RecordedLog
  const open = (options: Partial<PoolOptions> = {}) => {
    log = recordLog()
    pool = createPool({
      script: WORKER,
      setup: { maxMemoryBytes: MAX_MEMORY_BYTES },
      env: transformerEnvironment(),
      most: 1,
      maxMemoryBytes: MAX_MEMORY_BYTES,
      log,
      ...options,
    })
  }
  const run = (deed: Deed, rest: Partial<Task> = {}): Promise<Asset> =>
    pool.run({
      task: deed,
      source: file(Buffer.from('source')),
      asset: async () => {
        throw fileNotFound()
      },
      signal: new AbortController().signal,
      timeoutMs: 60_000,
      log,
      ...rest,
    })
  const pid = async () => Number(await readAll(await run({ do: 'pid' })))
  afterEach(async () => {
    const pids = pool.pids()
    await pool.close()
    expect(pids.filter(isAlive), 'left over').to.deep.equal([])
  })

  it('sends a child the source and returns its result, of any size, repeatedly', async () => {
    open()
    const bytes = randomBytes(5_000_000)
    for (const times of [1, 0, 5]) {
      const made = await run({ do: 'repeat', times }, { source: file(bytes) })
      expect(made).to.include({ size: times * bytes.length, mediaType: 'image/png' })
      expect(made.lastModified.getTime()).to.equal(1000)
      expect((await readAll(made)).equals(Buffer.concat(Array(times).fill(bytes)))).to.equal(true)
    }
    expect(pool.pids()).to.have.length(1)
  })

  it('returns a Problem unchanged, other errors with details for the log, and reuses the child', async () => {
    open()
    const first = await pid()
    const refused = await rejection(run({ do: 'refuse' }))
    expect(refused)
      .to.be.instanceOf(Problem)
      .that.deep.includes({
        status: 400,
        code: 'bad_parameter',
        message: 'expected less for x but received "more"',
        members: { param: 'x', expected: 'less', received: 'more' },
      })
    const thrown = await rejection(run({ do: 'throw' }))
    expect(thrown).to.be.instanceOf(Error).and.not.instanceOf(Problem)
    expect(thrown).to.have.property('message', 'the outer one')
    expect(thrown).to.have.property('stack').that.includes('TypeError: the inner one')
    expect(await pid()).to.equal(first)
  })

  itLong('measures the CPU time of each task separately, also when its child is killed', async () => {
    open()
    await pid()
    const spent: number[] = []
    const measured = { spent: (cpuMs: number) => spent.push(cpuMs) }
    await run({ do: 'repeat', times: 1 }, measured)
    await rejection(run({ do: 'spin' }, { ...measured, timeoutMs: 1500 }))
    expect(spent).to.have.length(2)
    const [short = -1, long = -1] = spent
    expect(short).to.be.within(0, 500)
    // The machine may be busy with something else for most of the time.
    expect(long).to.be.within(20, 1700)
    expect(long).to.be.above(short)
  })

  for (const [what, deed] of everyNth(2, [
    ['keeps its thread for ever', { do: 'spin' }],
    ['waits for ever', { do: 'sleep' }],
  ] as const)) {
    it(`kills a child that ${what}, and starts a replacement`, async () => {
      open()
      const first = await pid()
      const begun = performance.now()
      const error = await rejection(run(deed, { timeoutMs: 1000 }))
      expect(performance.now() - begun).to.be.at.least(900)
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
      expect(error).to.have.property('message', 'This image takes too long to transform.')
      await gone(first)
      await eventually(async () => expect(pool.pids()).to.have.length(1))
      const [next] = pool.pids()
      expect(next).to.not.equal(first)
      expect(await pid()).to.equal(next)
    })
  }

  for (const [what, spinning, limits] of everyNth(2, [
    ['when it sees it itself', false, { setup: { maxMemoryBytes: MAX_MEMORY_BYTES }, maxMemoryBytes: 1e12 }],
    [
      'though its thread is busy',
      true,
      { setup: { maxMemoryBytes: MAX_MEMORY_BYTES }, maxMemoryBytes: 1e12 },
    ],
    ['when its parent sees it', true, { setup: { maxMemoryBytes: 1e12 }, maxMemoryBytes: MAX_MEMORY_BYTES }],
  ] as const)) {
    it(`kills a child that uses too much memory ${what}`, async () => {
      open(limits)
      const first = await pid()
      const error = await rejection(run({ do: 'swell', spinning }, { timeoutMs: LONG_MS }))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
      expect(error).to.have.property('message', 'This image takes too much memory to transform.')
      await gone(first)
    })
  }

  it('fails the task of a child that exits by itself, and logs its last output', async () => {
    open()
    const error = await rejection(run({ do: 'abort' }))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
    expect(error).to.have.property('message').that.includes('that can be transformed')
    const lines = log.lines.map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`).join('\n')
    expect(lines).to.include('out of luck').and.include('"signalCode":"SIGABRT"')
    expect(await pid()).to.be.above(0)
  })

  it('kills a child at once when its caller disconnects', async () => {
    open()
    const first = await pid()
    const caller = new AbortController()
    const left = rejection(run({ do: 'spin' }, { signal: caller.signal }))
    const reason = new Error('left')
    setTimeout(() => caller.abort(reason), 200)
    // The child would take longer than the time limit of the test.
    expect(await left).to.equal(reason)
    await gone(first)
    expect(await pid()).to.not.equal(first)
  })

  it('starts no task for a caller that has disconnected, also while it waits for a child', async () => {
    open()
    const caller = new AbortController()
    const first = run({ do: 'pid' })
    const left = rejection(run({ do: 'sleep' }, { signal: caller.signal }))
    const next = pid()
    caller.abort(new Error('left'))
    // Before the child is free.
    expect(await Promise.race([left, first])).to.have.property('message', 'left')
    expect(await next).to.equal(Number(await readAll(await first)))
    expect(
      await rejection(run({ do: 'sleep' }, { signal: AbortSignal.abort(new Error('gone')) })),
    ).to.have.property('message', 'gone')
  })

  it('fails the tasks that wait for a child when it closes', async () => {
    open()
    const first = rejection(run({ do: 'sleep' }))
    const waiting = rejection(run({ do: 'pid' }))
    await pool.close()
    expect(await waiting).to.have.property('message', 'the pool is closed')
    await first
  })

  it('never starts more children than allowed', async () => {
    open({ most: 2 })
    const pids = await Promise.all(Array.from({ length: 7 }, pid))
    expect(new Set(pids)).to.have.property('size', 2)
    expect(pool.pids()).to.have.length(2)
  })

  it('sends other files to a child, several at a time, and reports missing ones', async () => {
    open()
    const files: Record<string, string> = { a: 'first', b: 'x'.repeat(300_000) }
    const asset = async (name: string) => {
      const found = files[name]
      if (found === undefined) throw fileNotFound()
      // The first that is asked for is the last that is found.
      await pause(found.length / 1000)
      return file(Buffer.from(found))
    }
    const made = await run({ do: 'fetch', names: ['b', 'none', 'a'] }, { asset })
    expect(String(await readAll(made))).to.equal(`${files.b}, (404 This file does not exist.), first`)
  })

  it('reports another file that cannot be opened, or ends early, as it is', async () => {
    open()
    const cannotOpen = { ...file(Buffer.from('x')), open: () => Promise.reject(fileNotFound()) }
    const made = await run({ do: 'fetch', names: ['a'] }, { asset: async () => cannotOpen })
    expect(String(await readAll(made))).to.equal('(404 This file does not exist.)')
    const endsEarly = { ...file(Buffer.from('abc')), size: 1000 }
    const failed = await rejection(run({ do: 'fetch', names: ['a'] }, { asset: async () => endsEarly }))
    expect(failed).to.have.property('message').that.includes('expected 1000 bytes')
  })

  it('forwards the log lines of a task', async () => {
    open()
    const own = recordLog()
    await run({ do: 'say' }, { log: own })
    expect(own.lines).to.have.length(1)
    expect(own.lines[0]).to.deep.include({ level: 'warn', message: 'said' })
    expect(own.lines[0]?.fields).to.have.nested.property('err.message', 'as it is')
  })

  it('reports what a child cannot load, and kills that child', async () => {
    open({ setup: { broken: 'plugins/x.js: expected a name' } })
    for (let i = 0; i < 2; i += 1) {
      const error = await rejection(run({ do: 'pid' }))
      expect(error).to.have.property(
        'message',
        'a child process cannot load its modules: plugins/x.js: expected a name',
      )
    }
  })

  it('does not blame the image when a child ends before it is ready', async () => {
    open({ setup: { exit: 3 } })
    const error = await rejection(run({ do: 'pid' }))
    expect(error).not.to.be.instanceOf(Problem)
    expect(error).to.have.property('message', 'a child process ended before it was ready (exit code 3)')
  })

  itLong('continues when a source fails in the middle', async () => {
    open()
    const broken = { ...file(Buffer.from('abc')), size: 1000 }
    expect(await rejection(run({ do: 'repeat', times: 1 }, { source: broken })))
      .to.have.property('message')
      .that.includes('expected 1000 bytes')
    const absent = { ...broken, open: () => Promise.reject(fileNotFound()) }
    expect(await rejection(run({ do: 'repeat', times: 1 }, { source: absent }))).to.have.property(
      'status',
      404,
    )
    expect(await pid()).to.be.above(0)
  })

  itLong('kills a child after it was idle for a while', async () => {
    open({ idleMs: 300 })
    await gone(await pid())
    await eventually(async () => expect(pool.pids()).to.deep.equal([]))
    expect(await pid()).to.be.above(0)
  })

  itLong('replaces a child whose memory grows while it is idle', async () => {
    open({ maxMemoryBytes: 2_000_000_000, setup: { maxMemoryBytes: 2_000_000_000 } })
    const first = Number(await readAll(await run({ do: 'swellLater' })))
    await eventually(async () => {
      const pages = Number((await readFile(`/proc/${first}/statm`, 'utf8')).split(' ')[1])
      expect(pages * 4096).to.be.above(310_000_000)
    })
    expect(await pid()).to.not.equal(first)
  })

  it('leaves the decision to the parent when a terminal or a supervisor signals all processes', async () => {
    open()
    const first = await pid()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(first, signal)
    expect(await pid()).to.equal(first)
  })

  for (const deed of sized(['spin'], ['sleep', 'spin'])) {
    it(`leaves no child when the parent is killed while one is to ${deed}`, async () => {
      open()
      const parent = spawn(process.execPath, [PARENT, WORKER, deed], { cwd: PROJECT })
      const [line] = await once(parent.stdout, 'data')
      const pids = JSON.parse(String(line)) as number[]
      expect(pids).to.have.length(2)
      expect(pids.every(isAlive)).to.equal(true)
      parent.kill('SIGKILL')
      for (const child of pids) await gone(child)
    })
  }
})
