import type { Log } from '../../../src/core/log.ts'

/** A log that keeps its lines, as pino would write them. */
export interface RecordedLog extends Log {
  readonly lines: Array<{ level: string; message: string; fields: Record<string, unknown> }>
}

export function recordLog(): RecordedLog {
  const lines: RecordedLog['lines'] = []
  const at = (level: string) => (fields: object, message: string) => {
    // pino leaves out what is undefined.
    const present = Object.entries(fields).filter(([, value]) => value !== undefined)
    lines.push({ level, message, fields: Object.fromEntries(present) })
  }
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
