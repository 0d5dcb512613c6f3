import { once } from 'node:events'
import { chmod, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { anySignal } from '../core/async/any-signal.ts'
import type { CommandRun, Commands } from '../core/command.ts'
import type { Log } from '../core/log.ts'
import { Problem, type ProblemJson } from '../core/problem.ts'

/** A server for commands of the operator on a unix socket. */
export interface Control {
  /** Accepts no more commands, aborts running ones, and removes the socket. */
  close(): Promise<void>
}

// Commands of an operator are short.
const REQUEST_MAX_BYTES = 64 * 1024
// The size of sun_path in struct sockaddr_un without the final NUL:
// 108 on Linux, 104 elsewhere. Longer names are silently truncated.
const PATH_MAX_BYTES = process.platform === 'linux' ? 107 : 103

/**
 * A request is one line. The reply is any number of lines with `item`, then one with `result` or `problem`. Any byte after the
 * request means that the command is to finish its work in progress and to begin no more.
 */
type Request = { command: string; args: unknown }
type Reply = { item: unknown } | { result: unknown } | { problem: ProblemJson }

/** The path of the socket of the process that uses the data folder. */
export function controlPath(dataDir: string): string {
  return join(dataDir, 'control.sock')
}

/**
 * Accepts commands, one line of JSON each, on a unix socket that only this user can open. A socket of an earlier process is
 * replaced: the caller holds the lock of the folder.
 *
 * @returns undefined, after a warning, when no socket is possible: the path is too long, or the file system has no sockets
 */
export async function openControl({
  path,
  commands,
  log,
}: {
  path: string
  commands: Commands
  log: Log
}): Promise<Control | undefined> {
  // The socket gets its final name after its mode was set, so that no other user can open it in between.
  const unnamed = join(dirname(path), 'control.new')
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) {
    log.warn(
      { path },
      `no command socket: its path is longer than ${PATH_MAX_BYTES} bytes. Commands for this server fail; use a shorter DATA_DIR`,
    )
    return undefined
  }
  const ending = new AbortController()
  const running = new Set<Promise<void>>()
  const server = createServer((socket) => {
    const served = serve(socket, { commands, log, ending: ending.signal }).finally(() =>
      running.delete(served),
    )
    running.add(served)
  })
  try {
    await rm(unnamed, { force: true })
    server.listen(unnamed)
    await once(server, 'listening')
    await chmod(unnamed, 0o600)
    await rename(unnamed, path)
  } catch (err) {
    server.close()
    log.warn({ err, path }, 'no command socket: commands for this server fail')
    return undefined
  }
  return {
    async close() {
      await rm(path, { force: true })
      const closed = new Promise((done) => server.close(done))
      ending.abort(new Error('the server is shutting down'))
      await Promise.all(running)
      await closed
    },
  }
}

/** Runs the single command of a connection. */
async function serve(
  socket: Socket,
  { commands, log, ending }: { commands: Commands; log: Log; ending: AbortSignal },
): Promise<void> {
  const left = new AbortController()
  socket.on('error', () => {}).once('close', () => left.abort(new Error('the operator has disconnected')))
  const signal = anySignal([left.signal, ending]).signal
  const stopping = new AbortController()
  try {
    const { command, args, isStopped } = await requestFrom(socket, signal)
    const stop = () => stopping.abort(new Error('the operator has stopped the command'))
    if (isStopped) stop()
    else socket.once('data', stop)
    const work = Object.hasOwn(commands, command) ? commands[command] : undefined
    if (!work)
      throw badRequest(
        `This server does not know the command "${command}". Check that server and command have the same version.`,
      )
    log.info({ command }, 'command received')
    const result = await work(args, {
      signal,
      stop: stopping.signal,
      report: (item) => send(socket, { item }, signal),
    })
    await send(socket, { result: result ?? null }, signal)
  } catch (error) {
    if (!(error instanceof Problem) && !signal.aborted) log.error({ err: error }, 'command failed')
    if (!left.signal.aborted) socket.write(line({ problem: publicFace(error) }))
  } finally {
    socket.end()
    // A client that does not read must not keep the process from exiting.
    if (ending.aborted) socket.destroySoon()
  }
}

/** `isStopped`: the byte after the request has arrived with it. */
async function requestFrom(socket: Socket, signal: AbortSignal): Promise<Request & { isStopped: boolean }> {
  let text = ''
  socket.setEncoding('utf8')
  while (!text.includes('\n')) {
    const [chunk] = await once(socket, 'data', { signal })
    text += chunk
    if (text.length > REQUEST_MAX_BYTES)
      throw badRequest(`expected a command of at most ${REQUEST_MAX_BYTES} characters`)
  }
  const end = text.indexOf('\n')
  try {
    const { command, args } = JSON.parse(text.slice(0, end))
    return { command: String(command), args, isStopped: text.length > end + 1 }
  } catch {
    throw badRequest('expected a line of JSON: {"command": "…", "args": {…}}')
  }
}

async function send(socket: Socket, reply: Reply, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (!socket.write(line(reply))) await once(socket, 'drain', { signal })
}

const line = (reply: Reply) => `${JSON.stringify(reply)}\n`

/** The user of the socket may read the log too. Still, stacks are only logged. */
function publicFace(error: unknown): ProblemJson {
  if (error instanceof Problem) return error.toJSON()
  const detail = error instanceof Error ? error.message : String(error)
  return { status: 500, code: 'internal', detail }
}

function badRequest(detail: string): Problem {
  return new Problem({ status: 400, code: 'bad_command', detail })
}

/** No server listens on the socket. */
export class NotRunning extends Error {
  override name = 'NotRunning'
}

/**
 * Runs a command in the running server, and calls `run.tell` with its intermediate results.
 *
 * @throws NotRunning; Problem as the command threw it; `run.signal.reason`, after which the server aborts the command too
 */
export async function callControl({
  path,
  command,
  args,
  run: { signal, stop, report },
}: {
  path: string
  command: string
  args: unknown
  run: CommandRun
}): Promise<unknown> {
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) throw new NotRunning('the path is too long for a socket')
  const socket = connect({ path })
  const leave = () => socket.destroy()
  signal.addEventListener('abort', leave, { once: true })
  const sendStop = () => void socket.write('\n')
  try {
    await connected(socket)
    stop?.throwIfAborted()
    socket.write(`${JSON.stringify({ command, args } satisfies Request)}\n`)
    stop?.addEventListener('abort', sendStop, { once: true })
    for await (const text of lines(socket)) {
      const reply = JSON.parse(text) as Reply
      if ('item' in reply) await report(reply.item)
      else if ('result' in reply) return reply.result
      else throw Problem.fromJSON(reply.problem)
    }
    throw new Error('the server exited during the command')
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
    stop?.removeEventListener('abort', sendStop)
    socket.destroy()
  }
}

/** Yields every complete line until the connection ends, normally or by an error. */
async function* lines(socket: Socket): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const chunk of socket.setEncoding('utf8')) {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      yield* parts
    }
  } catch (error) {
    if (
      !['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(
        (error as NodeJS.ErrnoException).code ?? '',
      )
    )
      throw error
  }
}

async function connected(socket: Socket): Promise<void> {
  try {
    await once(socket, 'connect')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw ['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(code)
      ? new NotRunning('no server is running')
      : error
  }
}
