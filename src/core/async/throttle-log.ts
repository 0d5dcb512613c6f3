const EVERY_MS = 60_000

/** Reports the same message at most once a minute: an outage brings one with every attempt. */
export function throttled(report: (error: Error) => void): (error: Error) => void {
  let last = { message: '', at: Number.NEGATIVE_INFINITY }
  return (error) => {
    if (error.message === last.message && last.at + EVERY_MS > Date.now()) return
    last = { message: error.message, at: Date.now() }
    report(error)
  }
}
