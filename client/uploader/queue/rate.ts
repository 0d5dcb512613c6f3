interface Sample {
  at: number
  sentBytes: number
}

const WINDOW_MS = 8000
// Before that, the rate is a guess.
const FIRST_MS = 2000

/** Estimates the remaining time of all uploads, from the rate of the last seconds. */
export function createRate(now: () => number = () => performance.now()) {
  let samples: Sample[] = []
  return {
    /** @returns seconds, undefined while there is no estimate */
    secondsLeft({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }): number | undefined {
      const at = now()
      // A paused small file begins again.
      if (sentBytes < (samples.at(-1)?.sentBytes ?? 0)) samples = []
      samples = [...samples.filter((sample) => sample.at > at - WINDOW_MS), { at, sentBytes }]
      const [first] = samples
      if (!first || at - first.at < FIRST_MS || sentBytes === first.sentBytes) return undefined
      return ((totalBytes - sentBytes) * (at - first.at)) / (sentBytes - first.sentBytes) / 1000
    },
  }
}
