import { Problem } from './problem.ts'

/**
 * Problems that another server causes: it fails, is slow, sends an error status, or redirects to an address that is
 * not allowed.
 */
const REMOTE_CODES: ReadonlySet<string> = new Set([
  'remote_failed',
  'remote_not_found',
  'remote_status',
  'remote_timeout',
  'url_not_allowed',
])
const REASON_MAX = 300
const DEEPEST_CAUSE = 4

/** Whether another server caused this failure or one of its causes. */
export function isRemoteFailure(error: unknown): boolean {
  return causesOf(error).some((each) => each instanceof Problem && REMOTE_CODES.has(each.code))
}

/**
 * The messages of a failure and its causes for a log line, without stacks: at most 300 characters in one line. For
 * failures that other servers cause: these must not decide how much is logged.
 */
export function logReason(error: unknown): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the line, or colour a terminal.
  const line = joinedMessages(error).replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
  return line.length > REASON_MAX ? `${line.slice(0, REASON_MAX)}…` : line
}

/** The messages of a failure and its causes. A message that another one quotes already is left out. */
export function joinedMessages(error: unknown): string {
  const messages = causesOf(error).map((each) => (each instanceof Error ? each.message : String(each)))
  return messages
    .filter((text, i) => !messages.slice(0, i).some((before) => before.includes(text)))
    .join(': ')
}

/** The fields of a log line about a failure: with its stack, unless another server caused it. */
export function failureFields(error: unknown): { reason: string } | { err: unknown } {
  return isRemoteFailure(error) ? { reason: logReason(error) } : { err: error }
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let each = error; each !== undefined && causes.length < DEEPEST_CAUSE; ) {
    causes.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return causes
}
