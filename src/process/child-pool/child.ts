import { Socket } from 'node:net'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import { headOf, receiveFile, sendFile } from './channel.ts'
import { closeInheritedFiles } from './inherited-files.ts'
import { guardProcess } from './memory-guard.ts'
import { type FromChild, receivedError, sentError, type ToChild } from './messages.ts'

/** What a child does for its parent. */
export type Work = (task: unknown, given: Given) => Promise<Asset>

export interface Given {
  source: Asset
  /** Another file that the work asks for, by a name that its parent knows. */
  asset(name: string): Promise<Asset>
  /** Its lines are the parent's. */
  log: Log
}

/** The descriptor on which bytes come and go: behind standard input, output and errors. */
export const CHANNEL = 3

/**
 * Makes this process a child that works for its parent, one task at a time, and ends when that does.
 *
 * @param setUp makes the work from what the parent says once; what it throws is what every task is answered with
 */
export function workForParent(
  setUp: (setup: unknown) => Promise<{ work: Work; maxMemoryBytes: number }>,
): void {
  closeInheritedFiles()
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })
  let work: Work | undefined
  const assets: Array<{ resolve: (asset: Promise<Asset>) => void; reject: (error: Error) => void }> = []

  // Nobody is left to work for. `process.exit` would wait for an encoder.
  process.on('disconnect', killSelf)
  // From a terminal they go to every process; whether work in progress may end is for the parent to say.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

  process.on('message', async (message: ToChild) => {
    if ('setup' in message) {
      try {
        const made = await setUp(message.setup)
        work = made.work
        guardProcess(made)
        tell({ ready: true })
      } catch (error) {
        tell({ broken: sentError(error) })
      }
    } else if ('task' in message) {
      try {
        if (!work) throw new Error('a task came before the setup')
        const source = await receiveFile(channel, message.source)
        const made = await work(message.task, { source, asset, log })
        tell({ done: headOf(made) })
        await sendFile(channel, made)
      } catch (error) {
        tell({ failed: sentError(error) })
      }
    } else if ('asset' in message) assets.shift()?.resolve(receiveFile(channel, message.asset))
    else assets.shift()?.reject(receivedError(message.noAsset))
  })

  let asking: Promise<unknown> = Promise.resolve()
  /** One after the other, since their bytes come through one channel. */
  function asset(name: string): Promise<Asset> {
    const asked = asking.then(
      () =>
        new Promise<Asset>((resolve, reject) => {
          assets.push({ resolve, reject })
          tell({ assetOf: name })
        }),
    )
    asking = asked.catch(() => {})
    return asked
  }
}

const line = (level: keyof Log) => (fields: object, text: string) => {
  tell({ log: level, fields: JSON.parse(JSON.stringify(fields, plainError)), text })
}
const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }

/** JSON would make nothing of an error. */
function plainError(_key: string, value: unknown): unknown {
  return value instanceof Error ? { message: value.message, stack: value.stack } : value
}

function tell(message: FromChild): void {
  process.send?.(message, undefined, undefined, () => {})
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}
