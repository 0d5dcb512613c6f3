import { randomUUID } from 'node:crypto'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { newClient } from '../../support/requests/client.ts'
import { actAsTwoClients, type Side } from '../../support/requests/two-clients.ts'
import { sized } from '../../support/sized.ts'

const STEPS = sized(40, 250)

onOneOrTwoBackends('two clients', (start) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9)

  it(`never see each other's files in random operations (SEED=${seed})`, async function () {
    this.timeout(120_000)
    const service = await start({
      env: { ZIP_RATE_LIMIT: '0', SIGN_RATE_LIMIT: '0', UPLOAD_RATE_LIMIT: '0' },
    })
    const newSide = async (name: string): Promise<Side> => {
      const client = await newClient(service)
      await service.app.clients.setRules(client.id, { keepDeletedSeconds: 600 })
      return { ...client, mark: `${name}-${randomUUID()}` }
    }
    await actAsTwoClients({ sides: [await newSide('one'), await newSide('two')], steps: STEPS, seed })
  })
})
