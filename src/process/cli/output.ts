import { FINDINGS, type Finding, type FindingKind } from '../../core/files/finding.ts'

/** Prints the progress and the result of a command. */
export interface CommandOutput {
  /** A finding or the progress, while the command runs. */
  report(item: unknown): void
  /** The result, at the end. */
  result(value: unknown): void
  /** Number of findings so far. */
  readonly findings: number
  /** Erases the progress line from the terminal. */
  clear(): void
}

type Item = { finding?: Finding; progress?: Readonly<Record<string, number>> }
type Write = (text: string) => void

/** A JSON line for each finding, and one for the result. */
export function jsonOutput(write: Write): CommandOutput {
  let findings = 0
  return {
    report(item) {
      const { finding } = item as Item
      if (!finding) return
      findings += 1
      write(`${JSON.stringify({ finding })}\n`)
    },
    result: (value) => write(`${JSON.stringify(value)}\n`),
    get findings() {
      return findings
    },
    clear() {},
  }
}

/**
 * Text for a terminal. `show` formats the result.
 * @param status writes the progress, one line that replaces itself; undefined without a terminal
 */
export function humanOutput({
  write,
  status,
  show,
}: {
  write: Write
  status: Write | undefined
  show: (result: unknown) => string
}): CommandOutput {
  const counts = new Map<FindingKind, number>()
  let isShown = false
  const clear = () => {
    if (isShown) status?.('\r\u001b[K')
    isShown = false
  }
  return {
    report(item) {
      const { finding, progress } = item as Item
      if (finding) {
        clear()
        counts.set(finding.kind, (counts.get(finding.kind) ?? 0) + 1)
        write(printable(`${findingLine(finding)}\n`))
      }
      if (progress && status) {
        status(
          `\r\u001b[K${Object.entries(progress)
            .map(([name, count]) => `${count} ${name}`)
            .join(', ')}`,
        )
        isShown = true
      }
    },
    result(value) {
      clear()
      if (counts.size > 0) write(`\n${meanings(counts)}\n`)
      write(printable(show(value)))
    },
    get findings() {
      return [...counts.values()].reduce((sum, count) => sum + count, 0)
    },
    clear,
  }
}

/** Text that is safe on a terminal: control characters and text direction marks are escaped. */
export function printable(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The message of an error, with the message of its root cause. */
export function failureText(error: Error): string {
  let root = error
  while (root.cause instanceof Error) root = root.cause
  const reason = root.message || root.name
  return printable(error.message.includes(reason) ? error.message : `${error.message} (${reason})`)
}

const KIND_WIDTH = Math.max(...Object.keys(FINDINGS).map(({ length }) => length))

function findingLine({ kind, clientId, key, detail }: Finding): string {
  return `${kind.padEnd(KIND_WIDTH)}  ${clientId.padEnd(11)}  ${key}${detail ? `  (${detail})` : ''}`
}

function meanings(counts: ReadonlyMap<FindingKind, number>): string {
  return columns([...counts].map(([kind, count]) => [String(count), kind, FINDINGS[kind]]))
}

/** Rows as lines, each column as wide as its widest cell. */
export function columns(rows: ReadonlyArray<readonly string[]>): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [i, { length }] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, length)
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
