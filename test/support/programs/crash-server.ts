import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadConfig } from '../../../config/load.ts'
import { createApp } from '../../../src/app.ts'
import { messageClasses } from '../../../src/process/web/message-classes.ts'
import { PROJECT, recordLog } from '../service.ts'
import { endingAt } from '../stored/steps.ts'

// The service as it is, which kills itself with SIGKILL at one step of its storage: the environment's CRASH_AT.
let handle: Parameters<typeof createServer>[1]
const messages = messageClasses()
const server = createServer(messages, (req, res) => handle?.(req, res))
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo
  const app = await createApp({
    config: loadConfig(),
    root: PROJECT,
    baseUrl: `http://localhost:${port}`,
    log: recordLog(),
    messages,
    wrapStorage: endingAt(process.env.CRASH_AT ?? '', () => process.kill(process.pid, 'SIGKILL')),
  })
  handle = app.handle
  process.stdout.write(`Sluice is ready at http://localhost:${port}\n`)
})
