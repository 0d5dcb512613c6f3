import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { root, say } from './run.js'

/** The lock for changes of this folder: its packages and its build. */
export const projectLock = `sluice-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`

/** The lock for changes of this machine: its system packages. It is the same for all folders. */
export const machineLock = 'sluice-machine'

/**
 * Runs the work under a lock that is exclusive on this machine, so that two concurrent runs do not install or build at the
 * same time.
 *
 * The lock is a listening socket. On Linux it has no file, and the kernel releases it when its owner dies.
 */
export async function alone(name, work) {
  let told = false
  let lock = await listen(name)
  while (!lock) {
    if (!told) say('Another run is installing or building; waiting for it.')
    told = true
    await pause(200)
    lock = await listen(name)
  }
  try {
    return await work()
  } finally {
    lock.close()
  }
}

async function listen(name) {
  const address = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}.sock`)
  const server = createServer((socket) => socket.destroy())
  try {
    await new Promise((resolve, reject) => server.once('error', reject).listen(address, resolve))
    return server
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error
    // On other systems the socket is a file, which remains when its owner is killed.
    if (process.platform !== 'linux' && !(await answers(address))) rmSync(address, { force: true })
    return undefined
  }
}

function answers(address) {
  return new Promise((resolve) => {
    const socket = connect(address, () => resolve(true))
    socket.once('error', () => resolve(false)).once('close', () => resolve(true))
  })
}
