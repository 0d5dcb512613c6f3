import { build } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { ensurePackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command } from './ready/run.js'

const HELP = `npm run build

Compiles src, plugins and config to a clean dist, installing the npm packages first when they are missing.`

await command(async () => {
  if (process.argv.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(projectLock, async () => {
    await ensurePackages()
    await build()
  })
})
