import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { environment } from './program.ts'

/** A clamd of this run alone, which knows one signature: that of {@link EICAR}. */
export interface Clamd {
  /** The path of its socket. */
  address: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it permanently, and removes its folder. */
  remove(): Promise<void>
}

// In two parts, so that no scanner takes this file for the test file.
const HALVES = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-', 'STANDARD-ANTIVIRUS-TEST-FILE!$H+H*']

/** The harmless file that scanners report as malware. @see https://www.eicar.org/download-anti-malware-testfile/ */
export const EICAR = Buffer.from(HALVES.join(''))

const NAME = 'Eicar-Test'

/** Its name in replies: clamd adds the end when the database is not signed by ClamAV. */
export const SIGNATURE = `${NAME}.UNOFFICIAL`

// The shell ends it when this process ends, however it ends.
const LIFELINE = '"$0" "$@" & read -r _; kill -9 $!; wait $!'

/** It is not started yet. */
export async function createClamd(): Promise<Clamd> {
  const folder = await temporaryFolder()
  const address = join(folder, 'clamd.sock')
  const digest = createHash('md5').update(EICAR).digest('hex')
  await writeFile(join(folder, 'test.hdb'), `${digest}:${EICAR.length}:${NAME}\n`)
  const lines = [`DatabaseDirectory ${folder}`, `LocalSocket ${address}`, 'FixStaleSocket yes']
  const config = join(folder, 'clamd.conf')
  await writeFile(config, `${[...lines, 'Foreground yes'].join('\n')}\n`)
  let child: ChildProcess | undefined
  const stop = async () => {
    if (!child) return
    const ended = once(child, 'exit')
    child.stdin?.end()
    child = undefined
    await ended
  }
  return {
    address,
    stop,
    async remove() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
    async start() {
      child = spawn('sh', ['-c', LIFELINE, 'clamd', '--config-file', config], {
        env: environment(folder),
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      await eventually(async () => {
        const connection = connect(address)
        await once(connection, 'connect')
        connection.destroy()
      })
    },
  }
}
