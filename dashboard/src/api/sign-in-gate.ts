import { useSyncExternalStore } from 'react'

/** Calls that wait for a sign-in. */
interface Waiting {
  resolve: () => void
  reject: (reason: unknown) => void
}

let waiting: Waiting[] = []
const listeners = new Set<() => void>()

function settle(each: (one: Waiting) => void): void {
  const settled = waiting
  waiting = []
  for (const one of settled) each(one)
  for (const listener of listeners) listener()
}

/**
 * Waits until the member has signed in again. The layout shows its dialog over the page as long as a call waits.
 *
 * @throws the reason of the signal, or an Error when the member signs out instead
 */
export function waitForSignIn(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const one: Waiting = { resolve, reject }
    waiting = [...waiting, one]
    signal?.addEventListener(
      'abort',
      () => {
        waiting = waiting.filter((other) => other !== one)
        reject(signal.reason)
        for (const listener of listeners) listener()
      },
      { once: true },
    )
    for (const listener of listeners) listener()
  })
}

/** Lets all waiting calls continue. */
export const signedInAgain = () => settle(({ resolve }) => resolve())

/** Fails all waiting calls. */
export const signedOut = () => settle(({ reject }) => reject(new Error('You have signed out.')))

/** Whether calls wait for a sign-in. */
export function useIsSignInNeeded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => waiting.length > 0,
  )
}
