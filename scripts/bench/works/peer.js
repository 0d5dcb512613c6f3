import { join } from 'node:path'
import { root } from '../../ready/run.js'
import { startServer } from '../server.js'

/** Starts a server to compare with. `script` is a path in scripts/bench. */
export function startPeer({ script, args, folder }) {
  return startServer({ script: [join(root, 'scripts/bench', script), ...args], folder })
}

export function get(path) {
  return { method: 'GET', path }
}
