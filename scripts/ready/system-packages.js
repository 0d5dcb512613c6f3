import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run, say } from './run.js'

/**
 * Runs as root, with the packages as arguments. A package's service would start at once and take a port that a test may
 * need, so policy-rc.d forbids it in the meantime. When the package list cannot be updated, the old one may still work.
 */
const INSTALL = `
policy=/usr/sbin/policy-rc.d
trap 'exit 143' INT TERM
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod +x $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o DPkg::Lock::Timeout=600 update -qq
apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "$@" > /dev/null`

/**
 * Installs missing programs from Debian's packages, if this user has the rights.
 *
 * @param {Record<string, string | string[]>} packages the package of each program, or several
 * @throws {Error} that names the missing programs and the command that installs them
 */
export async function ensurePrograms(packages) {
  const missing = Object.keys(packages).filter((program) => !has(program))
  if (missing.length === 0) return
  const names = missing.flatMap((program) => packages[program])
  const asRoot = rootCommand()
  if (asRoot) {
    say(`Installing Debian packages: ${names.join(', ')} ...`)
    const [file, ...args] = [...asRoot, 'sh', '-c', INSTALL, 'sh', ...names]
    await run(file, args, { stdio: ['ignore', process.stderr, process.stderr] })
    if (missing.every(has)) return
  }
  throw new Error(
    `These programs are missing: ${missing.join(', ')}. Install with: ` +
      `sudo apt-get update && sudo apt-get install --no-install-recommends ${names.join(' ')}`,
  )
}

/** The command prefix to run as root without a password. Undefined without one, or without apt. */
function rootCommand() {
  if (!has('apt-get')) return undefined
  if (process.getuid() === 0) return []
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' })
    return ['sudo', '-n']
  } catch {
    return undefined
  }
}

/** @param program a name, or the path of a file; one of its folders may be `*`, for the one of the architecture */
function has(program) {
  if (program.startsWith('/')) {
    const [folder, file] = program.split('/*/')
    if (file === undefined) return existsSync(program)
    return existsSync(folder) && readdirSync(folder).some((each) => existsSync(join(folder, each, file)))
  }
  // Debian has servers (nginx, varnishd) in /usr/sbin, which is only in root's PATH. The tests look there as well.
  return [...process.env.PATH.split(delimiter), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
