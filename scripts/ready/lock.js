import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { root, say } from './run.js'

/** What changes this folder (its packages, its build) holds this lock. */
export const projectLock = `sluice-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`

/** What changes this machine (its system packages) holds this one, whatever the folder. */
export const machineLock = 'sluice-machine'

/**
 * Does the work while no other process on this machine does work under the same name, so that two runs started at
 * once neither install over each other nor build twice.
 *
 * The lock is a listening socket without a file: the kernel drops it with its owner, however that one died.
 */
export async function alone(name, work) {
  let told = false
  let lock = await listen(name)
  while (!lock) {
    if (!told) say('Another process is installing or building; waiting for it.')
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
    // Elsewhere than on Linux the socket is a file, which outlives a killed owner.
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
