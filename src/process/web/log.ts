import pino from 'pino'
import { currentRequest, logFields } from '../../core/request-context.ts'

/** Where the lines of a log go, complete with their line breaks. */
interface Destination {
  write(lines: string): void
}

// Nobody notices this delay, and a busy process writes once for dozens of requests.
const DELAY_MS = 10
// A write is one piece of work for a thread. Larger ones cost no less per line.
const MAX_WRITE_CHARACTERS = 16_384

/**
 * Creates the log of a web process, on stdout. Lines are written together, at most 10 ms later: with many connections, a write for
 * each line would take a tenth of the CPU time. The last lines are also written when the process exits, except by a signal that it
 * cannot handle.
 * @param level the least important level that is logged, as pino names it
 */
export function createLog(level: string): pino.Logger {
  const destination = pino.destination({ sync: false })
  const batch = batched((lines) => destination.write(lines))
  // Before the destination's own listener, which writes what it has received.
  process.prependListener('exit', batch.flush)
  return pino({ level, mixin: fieldsOfRequest }, batch)
}

/** What each line has that is written for a request, also by services that know nothing of requests. */
export function fieldsOfRequest(): object {
  const request = currentRequest()
  return request ? logFields(request) : {}
}

/** Collects lines for 10 ms, or up to 16 KB. */
export function batched(write: (lines: string) => void): Destination & { flush(): void } {
  let lines = ''
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    if (lines === '') return
    const complete = lines
    lines = ''
    write(complete)
  }
  return {
    write(line) {
      // When nothing else keeps the process alive, the exit writes them.
      if (lines === '') timer = setTimeout(flush, DELAY_MS).unref()
      lines += line
      if (lines.length >= MAX_WRITE_CHARACTERS) flush()
    },
    flush,
  }
}
