import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { checkNode } from './ready/node-version.js'
import { command, root } from './ready/run.js'

const server = join(root, 'dist/src/main.js')
// A published package has no package-lock.json and no compiler, so it cannot be built.
const isClone = existsSync(join(root, 'package-lock.json'))

// npm start: installs and builds whatever is missing or out of date, then becomes the server. `--help` is the server's own.
await command(async () => {
  checkNode()
  if (!isClone) {
    if (existsSync(server)) return
    throw new Error(
      'This package is not built, and cannot be built outside of a clone. Run npm start in a clone of the repository, or npm run build there before npm pack.',
    )
  }
  await alone(projectLock, ensureBuilt)
})

// Runs in this process, so signals, arguments and exit code need not be forwarded.
process.argv[1] = server
await import(pathToFileURL(server).href)
