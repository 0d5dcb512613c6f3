import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { type Caller, newClient } from '../../support/requests/client.ts'
import { newFleet } from '../../support/servers/fleet.ts'
import { startProcess } from '../../support/servers/process.ts'
import { type ServiceOptions, startService } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { type Worker, workAtRandom } from '../../support/stored/random-work.ts'
import { readState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SEED = 20_261_120

const STEPS = sized(50, 10_000)

describe(`${STEPS} uploads, derivations and deletes at random by three clients`, function () {
  this.timeout(400_000)

  it('leave S3 and Redis in the state that a model predicts, with two processes', async () => {
    const fleet = await newFleet({ env: { ...NO_LIMITS, LOG_LEVEL: 'warn' } })
    try {
      const accounts = await threeClients({ env: fleet.env })
      // Two processes share Redis and S3, also when one of them is this one.
      const startOne = sized<() => Promise<Pick<Caller, 'url'>>>(fleet.service, fleet.start)
      const servers = await Promise.all([startOne(), fleet.start()])
      const expected = await workAtRandom({
        clients: clientsOf(accounts, servers),
        steps: STEPS,
        atOnce: 16,
        seed: SEED,
        picture: await picture({ width: 8, height: 6 }),
      })
      // What was answered may still be stored; what a client has left in the midst of a put stays until its deadline.
      await eventually(async () => {
        const pending = async () => (await fleet.state()).rows.filter((row) => row.endsWith(' pending'))
        const before = await pending()
        await pause(2000)
        expect(await pending()).to.deep.equal(before)
      })
      await fleet.sweptLater()
      expect(await fleet.state()).to.deep.equal(expected)
    } finally {
      await fleet.end()
    }
  })

  itLong('leave the disk in the state that a model predicts, with a fifth of the steps', async () => {
    const dataDir = await temporaryFolder()
    const accounts = await threeClients({ dataDir })
    const server = await startProcess({ env: { ...NO_LIMITS, DATA_DIR: dataDir, LOG_LEVEL: 'warn' } })
    try {
      const expected = await workAtRandom({
        clients: clientsOf(accounts, [server]),
        steps: STEPS / 5,
        atOnce: 16,
        seed: SEED,
        picture: await picture({ width: 8, height: 6 }),
      })
      server.child.kill('SIGTERM')
      expect(await server.ended).to.equal(0)
      const next = await startService({ dataDir })
      await next.app.sweep()
      await next.stop({ keepData: true })
      expect(await readState(dataDir)).to.deep.equal(expected)
    } finally {
      server.child.kill('SIGKILL')
      await server.ended
      await rm(dataDir, { recursive: true })
    }
  })
})

type Account = Pick<Caller, 'tokens'> & { id: string }

/** Made by a service that ends after it: each process reads them at its start. */
async function threeClients(options: ServiceOptions): Promise<Account[]> {
  const service = await startService(options)
  const accounts = [
    { id: 'first', tokens: service.tokens },
    await newClient(service),
    await newClient(service),
  ]
  await service.stop({ keepData: true })
  return accounts.map(({ id, tokens }) => ({ id, tokens }))
}

function clientsOf(accounts: readonly Account[], servers: ReadonlyArray<{ url: string }>): Worker[] {
  return accounts.map(({ id, tokens }) => ({ id, through: servers.map(({ url }) => ({ url, tokens })) }))
}
