/** The progress of a command. */
export interface ProgressLine {
  show(text: string): void
  /** Erases it from the terminal. */
  clear(): void
}

/**
 * On a terminal, a line that is replaced by the next one. Elsewhere, for example in a log, a new line now and then.
 *
 * @param options.write writes to the terminal
 * @param options.writeLine writes a line that is not on a terminal
 * @param options.everyMs the least time between two of these lines
 */
export function progressLine({
  isTerminal,
  write,
  writeLine,
  everyMs,
  now,
}: {
  isTerminal: boolean
  write: (text: string) => void
  writeLine: (text: string) => void
  everyMs: number
  now: () => number
}): ProgressLine {
  let isShown = false
  let lastLineAt = now()
  return {
    show(text) {
      if (isTerminal) {
        write(`\r\u001b[K${text}`)
        isShown = true
      } else if (now() >= lastLineAt + everyMs) {
        lastLineAt = now()
        writeLine(`${text}\n`)
      }
    },
    clear() {
      if (isShown) write('\r\u001b[K')
      isShown = false
    },
  }
}

const BAR_WIDTH = 30

/** `[#####-----] `; empty while the total is unknown. */
export function progressBar(done: number, total: number | undefined): string {
  if (!total) return ''
  const filled = Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH))
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] `
}
