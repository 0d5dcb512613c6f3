import { join } from 'node:path'
import { root } from '../../ready/run.js'
import { startServer } from '../server.js'

/** Starts a server to compare with. `script` is a path in scripts/bench, `env` more variables. */
export function startPeer({ script, args, folder, env }) {
  return startServer({ script: [join(root, 'scripts/bench', script), ...args], folder, env })
}

export function get(path) {
  return { method: 'GET', path }
}
