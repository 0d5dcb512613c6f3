/** Aborts with the first of several others, until somebody leaves them. */
export interface AnySignal {
  signal: AbortSignal
  /** From here on it follows none of them, and none of them holds it: for when what it was for has ended well. */
  leave(): void
}

/**
 * `AbortSignal.any` that lets go. Node 20 keeps for ever whatever listens to one of those, aborted or not, with all that
 * the listener holds: an answer of S3 with its connection's buffers, 15 MB in a thousand requests.
 */
export function anySignal(signals: readonly AbortSignal[]): AnySignal {
  const controller = new AbortController()
  const leave = () => {
    for (const signal of signals) signal.removeEventListener('abort', follow)
  }
  const follow = () => {
    leave()
    controller.abort(signals.find(({ aborted }) => aborted)?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', follow)
  if (signals.some(({ aborted }) => aborted)) follow()
  return { signal: controller.signal, leave }
}
