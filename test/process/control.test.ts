import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { CommandRun, Commands } from '../../src/core/command.ts'
import { Problem } from '../../src/core/problem.ts'
import { type Control, callControl, NotRunning, openControl } from '../../src/process/control.ts'
import { eventually } from '../support/eventually.ts'
import { rejection } from '../support/rejection.ts'
import { type RecordedLog, recordLog } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { failOnUnhandledRejection } from '../support/unhandled.ts'

describe('the control socket', () => {
  failOnUnhandledRejection()
  let folder: string
  let path: string
  let log: RecordedLog
  let control: Control | undefined
  /** Of the command `hang`: the signal that it was given. */
  let hanging: AbortSignal | undefined
  /** How far the last command `count` has come. */
  let counted = 0

  const commands: Commands = {
    echo: async (args) => args,
    nothing: async () => undefined,
    count: async (args, { report }) => {
      for (let i = 0; i < Number(args); i += 1) {
        counted = i + 1
        await report({ i, filler: 'x'.repeat(1000) })
      }
      return 'done'
    },
    refuse: async () => {
      throw new Problem({ status: 409, code: 'not_now', detail: 'not now', cause: new Error('a secret') })
    },
    fail: async () => {
      throw new TypeError('broken')
    },
    finish: async (_args, { stop, report }) => {
      await report('begun')
      if (stop && !stop.aborted) await once(stop, 'abort')
      return 'finished'
    },
    hang: async (_args, { signal, report }) => {
      hanging = signal
      await report('begun')
      await once(signal, 'abort')
      signal.throwIfAborted()
    },
  }

  beforeEach(async () => {
    folder = await temporaryFolder()
    path = join(folder, 'control.sock')
    log = recordLog()
    hanging = undefined
    control = await openControl({ path, commands, log })
  })
  afterEach(async () => {
    await control?.close()
    await rm(folder, { recursive: true, force: true })
  })

  function call(command: string, args: unknown = {}, run: Partial<CommandRun> = {}): Promise<unknown> {
    const { signal = new AbortController().signal, report = async () => {} } = run
    return callControl({ path, command, args, run: { signal, report } })
  }

  it('passes arguments to the command and returns its answer', async () => {
    const args = { name: 'Müller\n"quoted"', list: [1, null, { deep: true }] }
    expect(await call('echo', args)).to.deep.equal(args)
    expect(await call('nothing')).to.equal(null)
  })

  it('passes on that the operator wants the command to finish, without aborting it', async () => {
    const stop = new AbortController()
    const { signal } = new AbortController()
    const report = async () => stop.abort()
    const run = { signal, stop: stop.signal, report }
    expect(await callControl({ path, command: 'finish', args: {}, run })).to.equal('finished')
  })

  it('notices this also when it arrives together with the command', async () => {
    const socket = connect({ path })
    socket.write('{"command":"finish","args":{}}\n\n')
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).to.equal('{"item":"begun"}\n{"result":"finished"}\n')
  })

  it('passes on all intermediate results, in order, at the pace of the reader', async () => {
    const told: unknown[] = []
    const report = async (item: unknown) => {
      told.push((item as { i: number }).i)
      if (told.length % 500 === 0) await pause(5)
    }
    expect(await call('count', 3000, { report })).to.equal('done')
    expect(told).to.deep.equal(Array.from({ length: 3000 }, (_, i) => i))
  })

  it('pauses while its operator does not read, and aborts when the operator disconnects', async () => {
    const socket = connect({ path })
    socket.write('{"command":"count","args":1000000}\n')
    await eventually(() => expect(counted).to.be.above(0))
    await pause(200)
    // A thousand bytes each: what the system takes in between, not all of them.
    expect(counted).to.be.at.most(5000)
    socket.destroy()
    await eventually(async () => {
      const before = counted
      await pause(20)
      expect(counted).to.equal(before)
    })
  })

  it('serves several operators at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => call('echo', i)))
    expect(answers).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
  })

  it('returns a Problem unchanged, without its cause', async () => {
    const error = await rejection(call('refuse'))
    expect(error).to.be.instanceOf(Problem).that.include({ status: 409, code: 'not_now', message: 'not now' })
    expect((error as Problem).cause).to.equal(undefined)
    expect(log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  it('returns any other error, and logs it', async () => {
    expect(await rejection(call('fail'))).to.include({ status: 500, message: 'broken' })
    expect(log.lines.filter(({ level }) => level === 'error')).to.have.length(1)
  })

  for (const name of ['unknown', 'toString', '__proto__', '']) {
    it(`refuses an unknown command: ${JSON.stringify(name)}`, async () => {
      expect(await rejection(call(name))).to.include({ status: 400, code: 'bad_command' })
    })
  }

  for (const [what, bytes] of Object.entries({
    'no JSON': 'GET / HTTP/1.1\r\n\r\n',
    null: 'null\n',
    'a line without end': 'x'.repeat(70_000),
  })) {
    it(`refuses ${what}, and continues to serve`, async () => {
      const socket = connect({ path })
      socket.write(bytes)
      let answer = ''
      for await (const chunk of socket) answer += chunk
      expect(JSON.parse(answer).problem).to.include({ status: 400, code: 'bad_command' })
      expect(await call('echo', 1)).to.equal(1)
    })
  }

  it('aborts a command when its operator disconnects', async () => {
    const abort = new AbortController()
    const reason = new Error('Ctrl-C')
    const left = call('hang', {}, { signal: abort.signal, report: async () => abort.abort(reason) })
    expect(await rejection(left)).to.equal(reason)
    await eventually(() => expect(hanging?.aborted).to.equal(true))
    expect(await call('echo', 1)).to.equal(1)
    expect(log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  it('aborts all commands when it closes, informs their operators, and leaves no file', async () => {
    const begun: Array<Promise<unknown>> = []
    const hung = Array.from({ length: 3 }, () => {
      let report: CommandRun['report'] = async () => {}
      begun.push(
        new Promise((resolve) => {
          report = async () => resolve(undefined)
        }),
      )
      return rejection(call('hang', {}, { report }))
    })
    await Promise.all(begun)
    await control?.close()
    control = undefined
    for (const error of await Promise.all(hung))
      expect(error).to.have.property('message', 'the server is shutting down')
    expect(await readdir(folder)).to.deep.equal([])
    expect(await rejection(call('echo'))).to.be.instanceOf(NotRunning)
  })

  it('closes though an operator sends nothing', async () => {
    const silent = connect({ path })
    await once(silent, 'connect')
    await control?.close()
    control = undefined
    silent.destroy()
  })

  it('is accessible to its user only, from the moment at which it exists', async () => {
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
    expect(await readdir(folder)).to.deep.equal(['control.sock'])
  })

  it('replaces a socket that a killed process has left', async () => {
    await control?.close()
    const listen = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    await once(spawn(process.execPath, ['-e', listen]), 'close')
    expect((await stat(path)).isSocket()).to.equal(true)
    await rename(path, join(folder, 'control.new'))
    await symlink('control.new', path)
    expect(await rejection(call('echo'))).to.be.instanceOf(NotRunning)
    control = await openControl({ path, commands, log })
    expect(await call('echo', 1)).to.equal(1)
  })

  it('warns, and is disabled, when the path is too long for a socket', async () => {
    const deep = join(folder, 'd'.repeat(100))
    await mkdir(deep)
    const long = join(deep, 'control.sock')
    expect(await openControl({ path: long, commands, log })).to.equal(undefined)
    expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn'])
    expect(await readdir(deep)).to.deep.equal([])
    const run = { signal: new AbortController().signal, report: async () => {} }
    expect(await rejection(callControl({ path: long, command: 'echo', args: 1, run }))).to.be.instanceOf(
      NotRunning,
    )
  })

  it('is accessible to its user only, when the folder is not', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const run = { signal: new AbortController().signal, report: async () => {} }
    const work = callControl({ path: join(file, 'control.sock'), command: 'echo', args: 1, run })
    expect(await rejection(work)).to.be.instanceOf(NotRunning)
  })

  it('warns, and is disabled, when the file system has no sockets', async () => {
    const missing = join(folder, 'missing', 'control.sock')
    expect(await openControl({ path: missing, commands, log })).to.equal(undefined)
    expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn'])
  })

  it('reports that the server has ended when it is killed in the middle', async () => {
    const dying = createServer((socket) => socket.once('data', () => socket.destroy()))
    const other = join(folder, 'dying.sock')
    dying.listen(other)
    await once(dying, 'listening')
    const run = { signal: new AbortController().signal, report: async () => {} }
    const error = await rejection(callControl({ path: other, command: 'echo', args: 1, run }))
    expect(error).to.have.property('message', 'the server exited during the command')
    dying.close()
  })
})
