import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command, root, say } from '../ready/run.js'
import { helmProgram } from './program.js'

const HELP = `npm run manifests

Writes deploy/kubernetes/manifests.yaml: what the chart renders with deploy/kubernetes/values.example.yaml.`

export const MANIFESTS = 'deploy/kubernetes/manifests.yaml'
const TITLE = `# Rendered from chart with values.example.yaml by npm run manifests: docs/how-to/kubernetes.md\n`

/**
 * The plain manifests.
 *
 * @param {string[]} [options] further options of helm template
 */
export async function renderManifests(options = []) {
  const folder = join(root, 'deploy/kubernetes')
  const args = ['template', 'sluice', 'chart', '--values', 'values.example.yaml', ...options]
  return (
    TITLE +
    execFileSync(await helmProgram(), args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  )
}

if (process.argv[1] === import.meta.filename)
  await command(async () => {
    if (process.argv.includes('--help')) return console.log(HELP)
    writeFileSync(join(root, MANIFESTS), await renderManifests())
    say(`${MANIFESTS} is written.`)
  })
