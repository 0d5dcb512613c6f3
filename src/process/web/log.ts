import pino from 'pino'

/** Where the lines of a log go, complete with their line breaks. */
interface Destination {
  write(lines: string): void
}

/**
 * Creates the log of a web process, on stdout. The lines of one turn of the event loop are written together: with many
 * connections, a write for each line would take a tenth of the CPU time. The lines of the last turn are also written when the
 * process exits, except by a signal that it cannot handle.
 * @param level the least important level that is logged, as pino names it
 */
export function createLog(level: string): pino.Logger {
  const destination = pino.destination({ sync: false })
  const batch = batched((lines) => destination.write(lines))
  // Before the destination's own listener, which writes what it has received.
  process.prependListener('exit', batch.flush)
  return pino({ level }, batch)
}

/** Collects lines until the event loop has handled all that has arrived. */
export function batched(write: (lines: string) => void): Destination & { flush(): void } {
  let lines = ''
  const flush = () => {
    if (lines === '') return
    const complete = lines
    lines = ''
    write(complete)
  }
  return {
    write(line) {
      if (lines === '') setImmediate(flush)
      lines += line
    },
    flush,
  }
}
