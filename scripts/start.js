import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { ensurePackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command, root } from './ready/run.js'

// npm start: installs and builds what is missing or out of date, then is the server. `--help` is the server's own.
await command(async () => {
  checkNode()
  await alone(projectLock, async () => {
    await ensurePackages()
    await ensureBuilt()
  })
})

// In this process, so that signals, arguments and exit code are the server's own, with nothing to pass on.
const server = join(root, 'dist/src/main.js')
process.argv[1] = server
await import(pathToFileURL(server).href)
