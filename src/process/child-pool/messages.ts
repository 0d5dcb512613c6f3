import type { Log } from '../../core/log.ts'
import { Problem, type ProblemJson } from '../../core/problem.ts'

/** The properties of a file whose bytes follow on the channel. */
export interface FileHead {
  size: number
  mediaType: string
  /** Milliseconds since 1970. */
  lastModified: number
  /** Images only: the file ends before its image is complete. */
  truncated?: true
}

/** Messages to a child process. Bytes use a separate channel: as messages they would be copied twice. */
export type ToChild =
  | { setup: unknown }
  | { task: unknown; source: FileHead }
  | { asset: FileHead }
  | { noAsset: SentError }

/** Messages from a child process. */
export type FromChild =
  | { ready: true }
  | { broken: SentError }
  | { assetOf: string }
  | { log: keyof Log; fields: object; text: string }
  | { done: FileHead }
  | { failed: SentError }

/** An error as a message: the public part of a problem, or the message and stack of any other error, for the log. */
export type SentError = { problem: ProblemJson } | { message: string; stack: string }

export function sentError(error: unknown): SentError {
  if (error instanceof Problem) return { problem: error.toJSON() }
  if (!(error instanceof Error)) return { message: String(error), stack: '' }
  // The operator needs the cause most: it is the plugin's own error.
  const cause = error.cause instanceof Error ? `\nCaused by: ${error.cause.stack}` : ''
  return { message: error.message, stack: `${error.stack}${cause}` }
}

export function receivedError(sent: SentError): Error {
  if ('problem' in sent) return Problem.fromJSON(sent.problem)
  return Object.assign(new Error(sent.message), { stack: sent.stack })
}
