import { build, ensureBuilt } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { checkNode } from './ready/node-version.js'
import { command } from './ready/run.js'

const HELP = `npm run build [-- --outdated]

Compiles src, plugins, config, client and console into a clean dist. Installs missing npm packages first. With --outdated, it does
nothing when dist was built from the current sources.`

await command(async () => {
  if (process.argv.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(projectLock, () => (process.argv.includes('--outdated') ? ensureBuilt() : build()))
})
