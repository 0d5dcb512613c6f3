import { build } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { checkNode } from './ready/node-version.js'
import { command } from './ready/run.js'

const HELP = `npm run build

Compiles src, plugins and config into a clean dist. Installs missing npm packages first.`

await command(async () => {
  if (process.argv.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(projectLock, build)
})
