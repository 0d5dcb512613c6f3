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

export interface ChildOptions {
  /** The program of a child, which calls `workForParent`. */
  script: string
  /** What each child is told first; can be sent between processes. */
  setup: unknown
  /** All of a child's environment: it works on strangers' files, and gets none of the service's secrets. */
  env: Readonly<Record<string, string>>
  /** A child that takes more is killed. */
  maxMemoryBytes: number
  log: Log
}

/** One child. */
export interface Child {
  pid: number | undefined
  run(task: Task): Promise<Asset>
  /** Keeps this process from its end no longer. */
  rest(): void
  /** Whether it has ended, or is not worth keeping. */
  isSpent(): boolean
  kill(): void
  ended: Promise<unknown>
}

// Memory grows by 2 GB/s at most: 100 MB past the limit by the next look.
const LOOK_MS = 50
// What an allocator keeps after a large picture; a fresh child has 90 MB.
const KEPT_MEMORY_BYTES = 300_000_000
// A start takes 0.4 s on an idle machine.
const START_MS = 60_000
// Between a broken channel and the word that its process has ended.
const ENDING_MS = 1000
const PAGE_BYTES = 4096

export function openChild({ script, setup, env, maxMemoryBytes, log }: ChildOptions): Child {
  const child = fork(script, [], {
    env,
    // Both ways on one socket.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
  const channel = child.stdio[CHANNEL] as Duplex
  // Broken off with the child; who waits for it is told.
  channel.on('error', () => {})
  child.on('error', (err) => log.error({ err }, 'cannot start or reach a child process'))
  for (const output of [child.stdout, child.stderr]) logLines(output, child, log)

  const cpu = createCpuMeter(child.pid)
  let cause: Problem | undefined
  let spent = false
  /** Why it has ended, when it has. A child that could not be started has, too. */
  const ended = new Promise<Problem>((resolve) => {
    const gone = () => {
      spent = true
      resolve(cause ?? causeOf(child, log))
    }
    child.once('exit', gone).once('error', gone)
  })

  const kill = (why?: Problem) => {
    cause ??= why
    spent = true
    cpu.look()
    child.kill('SIGKILL')
  }

  /** The first message that `choose` makes something of. @throws Problem 422 when the child ends before */
  function hear<T>(choose: (message: FromChild) => T | undefined): Promise<T> {
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

  const tell = (message: ToChild) => child.send(message, () => {})

  const ready = hear((message) => {
    if ('ready' in message) return {}
    return 'broken' in message ? { broken: message.broken } : undefined
  }).then(({ broken }: { broken?: Parameters<typeof receivedError>[0] }) => {
    if (!broken) return
    kill()
    const error = receivedError(broken)
    throw new Error(`a child process cannot load its modules: ${error.message}`, { cause: error })
  })
  ready.catch(() => {})
  tell({ setup })

  return {
    pid: child.pid,
    ended,
    kill: () => kill(),
    isSpent: () => spent || memoryOf(child) > KEPT_MEMORY_BYTES,
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
      const talk = (message: FromChild) => {
        if ('log' in message) linesTo[message.log](message.fields, message.text)
        if ('assetOf' in message) void give(message.assetOf)
      }
      const give = async (name: string) => {
        try {
          const found = await asset(name)
          tell({ asset: headOf(found) })
          await sendFile(channel, found, stop.signal)
        } catch (error) {
          tell({ noAsset: sentError(error) })
        }
      }
      child.on('message', talk)
      try {
        await ready
        clearTimeout(starting)
        timer = setTimeout(() => kill(takesTooLong('image')), timeoutMs)
        const outcome = hear((message) => ('done' in message || 'failed' in message ? message : undefined))
        outcome.catch(() => {})
        tell({ task, source: headOf(source) })
        await Promise.race([sendFile(channel, source, stop.signal), outcome])
        const message = await outcome
        if ('done' in message) return await receiveFile(channel, message.done)
        failed = receivedError(message.failed)
        throw failed
      } catch (error) {
        signal.throwIfAborted()
        if (error === failed || spent) throw cause ?? error
        // A channel that breaks off is the first that is heard of its end; else it was the source that did.
        const end = await Promise.race([ended, pause(ENDING_MS, undefined, { ref: false })])
        kill()
        throw end ?? error
      } finally {
        clearTimeout(starting)
        clearTimeout(timer)
        clearInterval(looking)
        tellSpent?.(cpu.take())
        signal.removeEventListener('abort', leave)
        child.off('message', talk)
        stop.abort()
      }
    },
  }
}

const tooMuchMemory = () => notTransformable('this image takes too much memory to transform')

/** Why it has ended by itself. SIGKILL: by its own look at its memory, or by the system, which had none left. */
function causeOf({ exitCode, signalCode, pid }: ChildProcess, log: Log): Problem {
  if (signalCode === 'SIGKILL') return tooMuchMemory()
  log.error({ pid, exitCode, signalCode }, 'a child process exited during its work')
  return notTransformable('expected an image that can be transformed but this one cannot')
}

/** In memory now: proc(5). 0 where there is no such file; then the child alone looks. */
function memoryOf({ pid }: ChildProcess): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}

/** What a library says when it cannot say it in any other way. */
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
