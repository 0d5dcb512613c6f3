import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { type Running, run } from '../../support/servers/process.ts'
import { childrenOf, untilEnded } from '../../support/servers/processes.ts'
import { itLong } from '../../support/sized.ts'

const CLUSTERED = [await builtScript('clustered')]

/** The primary process with processes that do not load the service; processes.test.ts has those that do. */
describe('the primary of several web processes', () => {
  const running = new Set<Running>()
  afterEach(() => {
    for (const { child } of running) child.kill('SIGKILL')
    running.clear()
  })

  function start(deed: string, env: Readonly<Record<string, string>> = {}): Running & { pid: number } {
    const started = run({ script: CLUSTERED, env: { DEED: deed, ...env } })
    running.add(started)
    return { ...started, pid: started.child.pid ?? 0 }
  }

  const untilPrinted = ({ output }: Running, text: string, times = 1) =>
    eventually(() => expect(output().split(text)).to.have.length(times + 1))

  it('restarts processes with growing delays when each exits at once', async () => {
    const server = start('perish')
    await untilPrinted(server, 'Sluice is ready')
    const [killed = 0] = await childrenOf(server.pid)
    process.kill(killed, 'SIGKILL')
    const waits = () => [...server.output().matchAll(/"restartMs":(\d+)/g)].map(([, ms]) => Number(ms))
    await eventually(() => expect(waits()).to.deep.equal([1000, 2000, 4000]))
    expect(server.output()).to.include('a web process has exited; it is replaced')
  })

  it('forwards every signal, and exits after all processes', async () => {
    const server = start('serve')
    await untilPrinted(server, 'Sluice is ready')
    const workers = await childrenOf(server.pid)
    server.child.kill('SIGTERM')
    for (const pid of workers) await untilPrinted(server, `signal SIGTERM ${pid}`)
    expect(await childrenOf(server.pid)).to.have.members(workers)
    server.child.kill('SIGINT')
    expect(await server.ended).to.equal(0)
    await untilEnded(workers)
    for (const pid of workers) await untilPrinted(server, `signal SIGINT ${pid}`)
    expect(server.output()).to.not.include('it is replaced').and.not.include('sluice: ')
  })

  it('kills processes that have not exited in time', async () => {
    const server = start('deaf', { GRACE_MS: '300' })
    await untilPrinted(server, 'Sluice is ready')
    const workers = await childrenOf(server.pid)
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(0)
    await untilEnded(workers)
    for (const pid of workers) await untilPrinted(server, `signal SIGTERM ${pid}`)
  })

  itLong('fails when the processes fail at nearly the same moment', async () => {
    // One may end before the other is known to have ended.
    const servers = Array.from({ length: 4 }, () => start('fail'))
    for (const { ended, output } of servers) {
      expect(await ended, output()).to.equal(1)
      expect(output()).to.include('sluice: no process can start')
      expect(output()).to.include('sluice: a web process exited before all of them were ready')
      expect(output()).to.not.include('Sluice is ready').and.not.include('unsettled')
    }
  })

  it('stops the others, and fails, when a process exits while others start', async () => {
    const server = start('start')
    await untilPrinted(server, 'starting', 2)
    const workers = await childrenOf(server.pid)
    process.kill(workers[0] ?? 0, 'SIGKILL')
    expect(await server.ended, server.output()).to.equal(1)
    expect(server.output()).to.include('sluice: a web process exited').and.not.include('Sluice is ready')
    await untilEnded(workers)
  })

  it('exits without an error when it is stopped while the processes start', async () => {
    const server = start('start')
    await untilPrinted(server, 'starting', 2)
    const workers = await childrenOf(server.pid)
    expect(workers).to.have.length(2)
    server.child.kill('SIGTERM')
    expect(await server.ended, server.output()).to.equal(0)
    await untilEnded(workers)
    expect(server.output()).to.not.include('sluice: ')
  })
})
