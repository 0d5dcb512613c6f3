import { fork } from 'node:child_process'
import { once } from 'node:events'

// An idle child process ends: its model takes 225 MB.
const IDLE_MS = 60_000
// An event has 30 seconds in all.
const LOAD_MS = 20_000
// The libraries that Node loads may need these. The child process gets no secret.
const VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS', 'LD_LIBRARY_PATH']

let child
let idle
let last = Promise.resolve()

/**
 * Classifies an image in a child process, which is started for the first one. Images wait for each other.
 *
 * @param {Buffer} bytes a PNG
 * @param {{ model: string, side: number, timeoutMs: number, maxMemoryBytes: number }} options `model`: the URL of its module
 * @returns {Promise<Record<string, number>>} the probability of each class
 * @throws Error when the child process has failed, or was killed because the image took longer than `timeoutMs`
 */
export function classify(bytes, options) {
  const turn = last.then(() => inTime(bytes, options))
  last = turn.catch(() => {})
  return turn
}

async function inTime(bytes, { model, side, timeoutMs, maxMemoryBytes }) {
  clearTimeout(idle)
  try {
    if (!child) await start(model, maxMemoryBytes)
    child.send({ bytes, side })
    const { classes, error } = await nextMessage(child, timeoutMs)
    if (!classes) throw new Error(`the model cannot classify this image: ${error}`)
    return classes
  } finally {
    idle = setTimeout(() => child?.kill(), IDLE_MS)
    idle.unref()
  }
}

/** Starts the child process, and waits until it has loaded the model. */
async function start(model, maxMemoryBytes) {
  const env = Object.fromEntries(
    VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
  const started = fork(new URL('child.mjs', import.meta.url), [model, String(maxMemoryBytes)], {
    env,
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child = started
  // The server may end while the child process is idle.
  started.unref()
  started.channel.unref()
  started.once('exit', () => {
    if (child === started) child = undefined
  })
  await nextMessage(started, LOAD_MS)
}

/** The next message of the child process. @throws Error when it ends first, or is killed because the message takes longer */
async function nextMessage(of, withinMs) {
  const timer = setTimeout(() => of.kill('SIGKILL'), withinMs)
  const ended = new AbortController()
  try {
    const [message] = await Promise.race([
      once(of, 'message', { signal: ended.signal }),
      once(of, 'exit', { signal: ended.signal }).then(([code, signal]) => {
        throw new Error(`the child process with the model has ended (${signal ?? code})`)
      }),
    ])
    return message
  } finally {
    clearTimeout(timer)
    ended.abort()
  }
}
