import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { killedAt } from '../../support/servers/crash-points.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { filesInBucket } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('a process that is killed during an upload by a signed link', function () {
  this.timeout(180_000)
  const start = stoppedAtTheEnd(startService)
  let png: Buffer
  before(async () => {
    png = await picture()
  })

  const put = (service: Pick<Service, 'url'>, target: string) =>
    exchange(service, target, { method: 'PUT', body: png })

  /** A link of a data folder. */
  async function newLink() {
    const dataDir = await temporaryFolder()
    const first = await start({ dataDir })
    const signed = await exchange(first, '/v1/sign/_?expirationIn=3600', {
      headers: { Authorization: first.tokens.secretClientToken },
    })
    const target = String(jsonOf(signed).url).slice(first.url.length)
    await first.stop({ keepData: true })
    return { dataDir, target }
  }

  /** What the link does after its upload was killed: its statuses until it is used, and what there is then. */
  async function afterTheKill({ dataDir, target }: Awaited<ReturnType<typeof newLink>>) {
    const service = await start({ dataDir })
    const codes: unknown[] = []
    await eventually(
      async () => {
        const answer = await put(service, target)
        const code = answer.status === 200 ? 'stored' : jsonOf(answer).code
        if (codes.at(-1) !== code) codes.push(code)
        if (code !== 'link_used') await pause(1000)
        expect(code).to.equal('link_used')
      },
      { withinMs: LONG_MS },
    )
    const files = (await filesInBucket(dataDir)).filter((file) => !file.includes('.sluice'))
    const { findings } = await command(service, 'check')
    await service.stop()
    await rm(dataDir, { recursive: true, force: true })
    return { codes, files, findings, id: target.split('/')[4] }
  }

  it('leaves the link unused when no file was stored, and used when it was: one file each time', async () => {
    const expected: Record<string, readonly string[]> = {
      'before index.beginUpload': ['link_busy', 'stored', 'link_used'],
      'after index.beginUpload': ['link_busy', 'stored', 'link_used'],
      'within bucket.put original': ['link_busy', 'stored', 'link_used'],
      'after bucket.put original': ['link_busy', 'stored', 'link_used'],
      'after bucket.put record': ['link_busy', 'link_used'],
      'after index.finishUpload': ['link_busy', 'link_used'],
    }
    const steps = sized(['after bucket.put original', 'after bucket.put record'], Object.keys(expected))
    const links = await Promise.all(steps.map(async (step) => ({ step, ...(await newLink()) })))
    await killedAt(
      links.map(({ step, dataDir, target }) => ({
        step,
        env: { DATA_DIR: dataDir },
        work: (server) => put(server, target),
      })),
    )
    const outcomes = await Promise.all(
      links.map(async (link) => ({ step: link.step, ...(await afterTheKill(link)) })),
    )
    for (const { step, codes, files, findings, id } of outcomes) {
      expect(codes, step).to.deep.equal(expected[step])
      expect(files, step).to.deep.equal([`first/image/png/${id}.png`])
      expect(findings, step).to.deep.equal([])
    }
  })
})
