import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadConfig } from '../../../config/load.ts'
import { createApp } from '../../../src/app.ts'
import { messageClasses } from '../../../src/process/web/message-classes.ts'
import { PROJECT, recordLog } from '../service.ts'
import { endingAt } from '../stored/steps.ts'

// Several services in one process, each of which stops at a step of its own. The parent process kills all of them at once: see
// ../servers/crash-points.ts, which reads the lines that this prints.

const services: Array<{ env: Record<string, string>; step: string }> = JSON.parse(process.env.SERVICES ?? '')

await Promise.all(
  services.map(async ({ env, step }, number) => {
    let handle: Parameters<typeof createServer>[1]
    const messages = messageClasses()
    const server = createServer(messages, (req, res) => handle?.(req, res))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const app = await createApp({
      config: loadConfig(env),
      root: PROJECT,
      baseUrl: `http://localhost:${port}`,
      log: recordLog(),
      messages,
      wrapStorage: endingAt(step, () => process.stdout.write(`service ${number} has stopped\n`)),
    })
    handle = app.handle
    process.stdout.write(`service ${number} listens on ${port}\n`)
  }),
)
