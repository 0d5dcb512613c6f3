import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import express from 'express'
import type { Client } from '../../../src/core/clients/client.ts'
import { routesOf } from '../../../src/http/endpoint/routes.ts'
import { problemHandler } from '../../../src/http/problem.ts'
import { USAGE } from '../../../src/http/usage/endpoints.ts'
import { recordLog } from '../../support/texts/recorded-log.ts'

describe('GET /v1/clients/usage of many clients', () => {
  /** The `expected` of a refusal, or the status. */
  async function ask(clients: number, query: string): Promise<string | number> {
    const app = express()
    app.use(
      routesOf(USAGE, {
        adminSessions: { check() {} },
        usage: { ofClients: async () => [] },
        listClients: () => Array.from({ length: clients }, (_, i) => ({ id: String(i) }) as Client),
      } as never),
    )
    app.use(problemHandler(recordLog()))
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/v1/clients/usage?${query}`)
    const { expected } = (await response.json()) as { expected?: string }
    server.closeAllConnections()
    server.close()
    return expected ?? response.status
  }

  it('permits fewer days the more clients there are, and always one', async () => {
    const days = (from: string) => `from=${from}&to=2026-11-10`
    expect(await ask(0, days('2026-10-11'))).to.equal(200)
    expect(await ask(5000, days('2026-11-01'))).to.equal(200)
    expect(await ask(5000, days('2026-10-31'))).to.equal('at most 10 days for 5000 clients')
    expect(await ask(60_000, days('2026-11-10'))).to.equal(200)
    expect(await ask(60_000, days('2026-11-09'))).to.equal('at most 1 day for 60000 clients')
  })
})
