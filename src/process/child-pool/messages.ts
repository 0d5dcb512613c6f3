import type { FullImage } from '../../core/bytes/asset.ts'
import type { Log } from '../../core/log.ts'
import { Problem, type ProblemJson } from '../../core/problem.ts'

/** The metadata of a file whose bytes follow on the channel. */
export interface FileHead {
  size: number
  mediaType: string
  /** Milliseconds since 1970. */
  lastModified: number
  /** Set for an image whose file is truncated. */
  truncated?: true
  /** Set for a smaller copy of an image. */
  copyOf?: FullImage
}

/** Messages to a child. Bytes use a separate channel: in messages they would be copied twice. */
export type ToChild =
  | { setup: unknown }
  | { task: unknown; source: FileHead }
  | { asset: FileHead }
  | { noAsset: SentError }

/** Messages from a child. */
export type FromChild =
  | { ready: true }
  | { broken: SentError }
  | { assetOf: string }
  | { log: keyof Log; fields: object; text: string }
  | { done: FileHead }
  | { failed: SentError }

/** A serialized error: the public part of a Problem, or message and stack of any other error. */
export type SentError = { problem: ProblemJson } | { message: string; stack: string }

/** Serializes an error for the other process. */
export function sentError(error: unknown): SentError {
  if (error instanceof Problem) return { problem: error.toJSON() }
  if (!(error instanceof Error)) return { message: String(error), stack: '' }
  // The cause has the plugin's own message, which is what an operator needs in the log.
  const cause = error.cause instanceof Error ? `\nCaused by: ${error.cause.stack}` : ''
  return { message: error.message, stack: `${error.stack}${cause}` }
}

/** Restores an error of the other process. A Problem remains a Problem. */
export function receivedError(sent: SentError): Error {
  if ('problem' in sent) return Problem.fromJSON(sent.problem)
  return Object.assign(new Error(sent.message), { stack: sent.stack })
}
