import { Socket } from 'node:net'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import { headOf, receiveFile, sendFile } from './channel.ts'
import { closeInheritedFiles } from './inherited-files.ts'
import { guardProcess } from './memory-guard.ts'
import { type FromChild, receivedError, sentError, type ToChild } from './messages.ts'

/** Runs one task in a child. */
export type Work = (task: unknown, given: Given) => Promise<Asset>

/** The inputs of one task. */
export interface Given {
  source: Asset
  /** Requests another file from the parent, by a name that the parent knows. */
  asset(name: string): Promise<Asset>
  /** Sends log lines to the parent. */
  log: Log
}

/** The file descriptor of the byte channel. It follows stdin, stdout and stderr. */
export const CHANNEL = 3

/**
 * Makes this process a child that works for its parent, one task at a time. It ends when the parent ends.
 *
 * @param setUp creates the work from the first message of the parent. If it throws, every task fails with its error
 */
export function workForParent(
  setUp: (setup: unknown) => Promise<{ work: Work; maxMemoryBytes: number }>,
): void {
  closeInheritedFiles()
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })
  let work: Work | undefined
  const assets: Array<{ resolve: (asset: Promise<Asset>) => void; reject: (error: Error) => void }> = []

  // The parent is dead. `process.exit` would wait for a running encoder.
  process.on('disconnect', killSelf)
  // A terminal sends these signals to every process. The parent decides whether work in progress may end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

  process.on('message', async (message: ToChild) => {
    if ('setup' in message) {
      try {
        const made = await setUp(message.setup)
        work = made.work
        guardProcess(made)
        send({ ready: true })
      } catch (error) {
        send({ broken: sentError(error) })
      }
    } else if ('task' in message) {
      try {
        if (!work) throw new Error('a task came before the setup')
        const source = await receiveFile(channel, message.source)
        const made = await work(message.task, { source, asset, log })
        await sendFile(channel, made, { opened: () => send({ done: headOf(made) }) })
      } catch (error) {
        send({ failed: sentError(error) })
      }
    } else if ('asset' in message) assets.shift()?.resolve(receiveFile(channel, message.asset))
    else assets.shift()?.reject(receivedError(message.noAsset))
  })

  let lastRequest: Promise<unknown> = Promise.resolve()
  /** Requests run one after the other, since the bytes share one channel. */
  function asset(name: string): Promise<Asset> {
    const request = lastRequest.then(
      () =>
        new Promise<Asset>((resolve, reject) => {
          assets.push({ resolve, reject })
          send({ assetOf: name })
        }),
    )
    lastRequest = request.catch(() => {})
    return request
  }
}

const line = (level: keyof Log) => (fields: object, text: string) => {
  send({ log: level, fields: JSON.parse(JSON.stringify(fields, plainError)), text })
}
const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }

/** JSON.stringify would turn an error into an empty object. */
function plainError(_key: string, value: unknown): unknown {
  return value instanceof Error ? { message: value.message, stack: value.stack } : value
}

function send(message: FromChild): void {
  process.send?.(message, undefined, undefined, () => {})
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}
