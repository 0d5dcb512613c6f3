const EVERY_MS = 60_000

/** Limits reports of the same message to one a minute: during an outage each attempt reports one. */
export function throttled(report: (error: Error) => void): (error: Error) => void {
  let last = { message: '', at: Number.NEGATIVE_INFINITY }
  return (error) => {
    if (error.message === last.message && last.at + EVERY_MS > Date.now()) return
    last = { message: error.message, at: Date.now() }
    report(error)
  }
}
