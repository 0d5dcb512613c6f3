import type { Metrics } from '../../core/ports/metrics.ts'

const nothing = () => undefined

/** For an installation that nobody watches. */
export const noMetrics: Metrics = {
  requestEnded: nothing,
  derivativeLookedUp: nothing,
  transformed: nothing,
  watchTransforms: nothing,
  jobEnded: nothing,
  watchJobs: nothing,
  storageCalled: nothing,
}
