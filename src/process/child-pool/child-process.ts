import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Duplex, Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import type { Task } from '../../core/ports/children.ts'
import type { Problem } from '../../core/problem.ts'
import { notTransformable, takesTooLong } from '../../core/transform-problems.ts'
import { headOf, receiveFile, sendFile } from './channel.ts'
import { CHANNEL } from './child.ts'
import { createCpuMeter } from './cpu.ts'
import { type FromChild, receivedError, sentError, type ToChild } from './messages.ts'

/** Settings of each child. */
export interface ChildOptions {
  /** The program of a child. It calls `workForParent`. */
  script: string
  /** Options of Node for a child. Default: those of this process. */
  execArgv?: string[]
  /** Sent to each child first. Must be serializable as a message. */
  setup: unknown
  /** The whole environment of a child. A child processes files of strangers, so it gets no secrets of the service. */
  env: Readonly<Record<string, string>>
  /** A child that uses more memory is killed. */
  maxMemoryBytes: number
  log: Log
}

/** One child process. */
export interface Child {
  pid: number | undefined
  run(task: Task): Promise<Asset>
  /** Lets this process exit although the child is still alive. */
  rest(): void
  /** Whether the child has ended, or uses too much memory to be reused. */
  isSpent(): boolean
  kill(): void
  ended: Promise<unknown>
}

// Memory grows by 2 GB/s at most, so a child exceeds the limit by at most 100 MB until the next check.
const LOOK_MS = 50
// Memory that the allocator retains after a large image. A fresh child has 90 MB.
const MAX_IDLE_MEMORY_BYTES = 300_000_000
// A start takes 0.4 s on an idle machine.
const START_MS = 60_000
// Grace period between a closed channel and the exit event.
const ENDING_MS = 1000
const PAGE_BYTES = 4096

/** Starts a child and sends it the setup. Tasks wait until it is ready. */
export function openChild({ script, execArgv, setup, env, maxMemoryBytes, log }: ChildOptions): Child {
  const child = fork(script, [], {
    env,
    ...(execArgv && { execArgv }),
    // The channel is one socket for both directions.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
  const channel = child.stdio[CHANNEL] as Duplex
  // The channel breaks when the child ends. Pending calls learn this from `ended`.
  channel.on('error', () => {})
  child.on('error', (err) => log.error({ err }, 'cannot start or reach a child process'))
  for (const output of [child.stdout, child.stderr]) logLines(output, child, log)

  const cpu = createCpuMeter(child.pid)
  let cause: Error | undefined
  let spent = false
  let started = false
  /** Resolves with the reason when the child has ended or could not be started. */
  const ended = new Promise<Error>((resolve) => {
    const onEnd = () => {
      spent = true
      resolve(cause ?? (started ? causeOf(child, log) : notStarted(child)))
    }
    child.once('exit', onEnd).once('error', onEnd)
  })

  const kill = (why?: Error) => {
    cause ??= why
    spent = true
    cpu.look()
    child.kill('SIGKILL')
  }

  /** Resolves with the first message for which `choose` returns a value. @throws the reason of the end when the child ends before that */
  function nextMessage<T>(choose: (message: FromChild) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        child.off('message', listen)
      }
      const listen = (message: FromChild) => {
        const chosen = choose(message)
        if (chosen === undefined) return
        settle()
        resolve(chosen)
      }
      child.on('message', listen)
      void ended.then(reject).then(settle)
    })
  }

  const send = (message: ToChild) => child.send(message, () => {})

  const ready = nextMessage((message) => {
    if ('ready' in message) return {}
    return 'broken' in message ? { broken: message.broken } : undefined
  }).then(({ broken }: { broken?: Parameters<typeof receivedError>[0] }) => {
    if (!broken) {
      started = true
      return
    }
    kill()
    const error = receivedError(broken)
    throw new Error(`a child process cannot load its modules: ${error.message}`, { cause: error })
  })
  ready.catch(() => {})
  send({ setup })

  return {
    pid: child.pid,
    ended,
    kill: () => kill(),
    isSpent: () => spent || memoryOf(child) > MAX_IDLE_MEMORY_BYTES,
    rest: () => setRef(child, 'unref'),
    async run({ task, source, asset, signal, timeoutMs, spent: tellSpent, log: linesTo }) {
      setRef(child, 'ref')
      cpu.begin()
      const stop = new AbortController()
      const leave = () => kill()
      signal.addEventListener('abort', leave, { once: true })
      const starting = setTimeout(() => kill(), START_MS)
      let timer: NodeJS.Timeout | undefined
      let failed: Error | undefined
      const looking = setInterval(() => {
        cpu.look()
        if (memoryOf(child) > maxMemoryBytes) kill(tooMuchMemory())
      }, LOOK_MS)
      const onMessage = (message: FromChild) => {
        if ('log' in message) linesTo[message.log](message.fields, message.text)
        if ('assetOf' in message) void sendAsset(message.assetOf)
      }
      const sendAsset = async (name: string) => {
        let isPromised = false
        const promise = (found: Asset) => {
          isPromised = true
          send({ asset: headOf(found) })
        }
        try {
          const found = await asset(name)
          await sendFile(channel, found, { signal: stop.signal, opened: () => promise(found) })
        } catch (error) {
          // The child waits for all bytes that it was promised, and can receive nothing else before.
          if (isPromised) kill(error as Error)
          else send({ noAsset: sentError(error) })
        }
      }
      child.on('message', onMessage)
      try {
        await ready
        clearTimeout(starting)
        timer = setTimeout(() => kill(takesTooLong('image')), timeoutMs)
        const outcome = nextMessage((message) =>
          'done' in message || 'failed' in message ? message : undefined,
        )
        outcome.catch(() => {})
        send({ task, source: headOf(source) })
        await Promise.race([sendFile(channel, source, { signal: stop.signal }), outcome])
        const message = await outcome
        if ('done' in message) return await receiveFile(channel, message.done)
        failed = receivedError(message.failed)
        throw failed
      } catch (error) {
        signal.throwIfAborted()
        if (error === failed || spent) throw cause ?? error
        // A broken channel is often noticed before the exit of the child. If the child does not exit, the source has failed.
        const end = await Promise.race([ended, pause(ENDING_MS, undefined, { ref: false })])
        kill()
        throw end ?? error
      } finally {
        clearTimeout(starting)
        clearTimeout(timer)
        clearInterval(looking)
        tellSpent?.(cpu.take())
        signal.removeEventListener('abort', leave)
        child.off('message', onMessage)
        stop.abort()
      }
    },
  }
}

const tooMuchMemory = () => notTransformable('This image takes too much memory to transform.')

/**
 * The error of a child that ended before it was ready. It has read no image yet, so this must not count as a failure of the
 * image: such failures are remembered. One cause is an upgrade that replaces `node_modules` while the service runs.
 */
function notStarted({ exitCode, signalCode }: ChildProcess): Error {
  return new Error(`a child process ended before it was ready (${signalCode ?? `exit code ${exitCode}`})`)
}

/** Why the child ended by itself. SIGKILL comes from its own memory guard, or from the system when it was out of memory. */
function causeOf({ exitCode, signalCode, pid }: ChildProcess, log: Log): Problem {
  if (signalCode === 'SIGKILL') return tooMuchMemory()
  log.error({ pid, exitCode, signalCode }, 'a child process exited during its work')
  return notTransformable('expected an image that can be transformed but this one cannot')
}

/** Resident memory of the child, see proc(5). 0 where `/proc` is missing: then only the child's own guard checks. */
function memoryOf({ pid }: ChildProcess): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}

/** Logs lines that a library wrote to stdout or stderr of the child. */
function logLines(output: Readable | null, { pid }: ChildProcess, log: Log): void {
  output?.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n')) if (line.trim()) log.warn({ pid, line }, 'child process stderr')
  })
}

function setRef(child: ChildProcess, how: 'ref' | 'unref'): void {
  child[how]()
  child.channel?.[how]()
  for (const stream of child.stdio)
    (stream as unknown as { [H in typeof how]?: () => void } | null)?.[how]?.()
}
