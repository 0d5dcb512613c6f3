import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureServerBuilt } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { checkNode } from './ready/node-version.js'
import { command, root, say } from './ready/run.js'

const server = join(root, 'dist/src/main.js')
// A published package has no package-lock.json and no compiler, so it cannot be built.
const isClone = existsSync(join(root, 'package-lock.json'))

// npm start: installs and builds whatever is missing or out of date, then becomes the server. `--help` is the server's own.
// On the first start, the console is built when the server serves already.
let isConsoleMissing = false
await command(async () => {
  checkNode()
  if (!isClone) {
    if (existsSync(server)) return
    throw new Error(
      'This package is not built, and cannot be built outside of a clone. Run npm start in a clone of the repository, or npm run build there before npm pack.',
    )
  }
  isConsoleMissing = await alone(projectLock, ensureServerBuilt)
})

// Runs in this process, so signals, arguments and exit code need not be forwarded.
process.argv[1] = server
await import(pathToFileURL(server).href)
if (isConsoleMissing && process.argv.length === 2) buildConsole()

/** In a process of its own, which ends with this one. */
function buildConsole() {
  const args = [join(root, 'scripts/build.js'), '--outdated']
  const build = spawn(process.execPath, args, { stdio: ['ignore', 2, 2] })
  const stop = () => {
    build.removeAllListeners()
    build.kill()
  }
  const ends = ['exit', 'SIGINT', 'SIGTERM']
  for (const event of ends) process.once(event, stop)
  build.once('exit', (code) => {
    for (const event of ends) process.off(event, stop)
    if (code === 0) say('The console is built.')
    else
      say(
        'The console could not be built, see above. npm run build tries again; the server serves without it.',
      )
  })
}
