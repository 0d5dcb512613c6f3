import { alone, projectLock } from './ready/lock.js'
import { ensureAllPackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command } from './ready/run.js'

const HELP = `npm run setup

Installs the npm packages that development needs if they are missing: those of the service, of the console and of the tests.
npm start installs the first ones only.`

await command(async () => {
  if (process.argv.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(projectLock, async () => {
    await ensureAllPackages()
  })
})
