import { alone, projectLock } from './ready/lock.js'
import { ensurePackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command } from './ready/run.js'

const HELP = `npm run setup

Installs the npm packages of package-lock.json if they are missing. Other commands do this automatically; use this one
for steps that run before them, such as a linter in continuous integration.`

await command(async () => {
  if (process.argv.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(projectLock, ensurePackages)
})
