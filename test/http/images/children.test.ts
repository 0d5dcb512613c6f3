import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect } from 'chai'
import { programEnvironment } from '../../../config/programs.ts'
import { outputOf } from '../../../src/engines/ffmpeg/process.ts'
import { eventually } from '../../support/eventually.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>'
const SECRET = 'swordfish-in-the-environment'
const TRANSFORMER = /transformer\.[jt]s/

/** The arguments of a process; empty for one that has ended. */
function commandOf(pid: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    return parent === process.pid ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
  } catch {
    return ''
  }
}

/** The children of this process whose arguments match. */
function childrenOf(pattern: RegExp): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => pattern.test(commandOf(pid)))
}

/** The child of this process whose arguments match, and which is not one of these. */
async function childOf(pattern: RegExp, others: readonly string[] = []): Promise<string> {
  let found: string | undefined
  await eventually(() => {
    found = childrenOf(pattern).find((pid) => !others.includes(pid))
    expect(found, `a child ${pattern}`).not.to.equal(undefined)
  })
  return found ?? ''
}

/** Files of the service that a process has open, by their paths; not the libraries that it loads. */
function filesOf(pid: string): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
    .filter((path) => path.startsWith(tmpdir()))
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    // It was closed since the folder was listed.
    return ''
  }
}

describe('child processes that read untrusted files', () => {
  let service: Service
  let others: string[]
  before(async () => {
    process.env.SLUICE_TEST_SECRET = SECRET
    // Those of other test files have started without the secret. This service has its own, by a setting that no other one has.
    others = childrenOf(TRANSFORMER)
    service = await startService({ env: { TRANSFORM_MAX_MEMORY_BYTES: '1234567890' } })
    const own = filesOf(String(process.pid)).filter((path) => /\d{6}\.log$|MANIFEST/.test(path))
    expect(own, 'files of LevelDB').not.to.have.length(0)
  })
  after(async () => {
    delete process.env.SLUICE_TEST_SECRET
    await service.stop()
  })

  it('have no index file and no secret: a transformer', async () => {
    const { src } = await uploadOne(service, { name: 'a.svg', bytes: SVG })
    expect((await exchange(service, `${src}?w=20`)).status).to.equal(200)
    const pid = await childOf(TRANSFORMER, others)
    expect(filesOf(pid)).to.deep.equal([])
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8'))
      .to.include('PATH=')
      .and.not.include(SECRET)
  })

  it('have no index file and no secret: ffmpeg', async () => {
    const waits = ['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc=s=64x36:d=60', '-f', 'null', '-']
    const leave = new AbortController()
    const running = { env: programEnvironment(), signal: leave.signal, timeoutMs: 20_000, maxBytes: 1000 }
    const ended = outputOf('ffmpeg', waits, running).catch(() => {})
    const pid = await childOf(/testsrc=s=64x36:d=60/)
    try {
      expect(filesOf(pid)).to.deep.equal([])
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8'))
        .to.include('PATH=')
        .and.not.include(SECRET)
    } finally {
      leave.abort()
      await ended
    }
  })
})
