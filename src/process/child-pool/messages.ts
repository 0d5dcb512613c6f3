import type { Log } from '../../core/log.ts'
import { Problem, type ProblemOptions } from '../../core/problem.ts'

/** Of a file whose bytes follow on the channel. */
export interface FileHead {
  size: number
  mediaType: string
  /** Milliseconds since 1970. */
  lastModified: number
  /** Of a picture: the file ends before its picture does. */
  truncated?: true
}

/** What a child is told. Bytes go through a channel of their own: as messages they would be copied twice. */
export type ToChild =
  | { setup: unknown }
  | { task: unknown; source: FileHead }
  | { asset: FileHead }
  | { noAsset: SentError }

/** What it tells. */
export type FromChild =
  | { ready: true }
  | { broken: SentError }
  | { assetOf: string }
  | { log: keyof Log; fields: object; text: string }
  | { done: FileHead }
  | { failed: SentError }

/** An error as it is sent: what a caller sees of a problem, and what the log sees of any other. */
export type SentError = { problem: Omit<ProblemOptions, 'cause'> } | { message: string; stack: string }

export function sentError(error: unknown): SentError {
  if (error instanceof Problem) {
    const { status, code, message: detail, members, headers } = error
    return { problem: { status, code, detail, members, headers } }
  }
  if (!(error instanceof Error)) return { message: String(error), stack: '' }
  // The cause is what the log is read for: the plugin's own words.
  const cause = error.cause instanceof Error ? `\nCaused by: ${error.cause.stack}` : ''
  return { message: error.message, stack: `${error.stack}${cause}` }
}

export function receivedError(sent: SentError): Error {
  if ('problem' in sent) return new Problem(sent.problem)
  return Object.assign(new Error(sent.message), { stack: sent.stack })
}
