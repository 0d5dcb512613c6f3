import type { Metrics } from '../../core/ports/metrics.ts'

const nothing = () => undefined

/** Discards all metrics. */
export const noMetrics: Metrics = {
  requestEnded: nothing,
  derivativeLookedUp: nothing,
  savedByRecompression: nothing,
  answeredHot: nothing,
  transformed: nothing,
  watchTransforms: nothing,
  watchComparison: nothing,
  watchIndex: nothing,
  watchStores: nothing,
  jobEnded: nothing,
  scanned: nothing,
  watchJobs: nothing,
  webhookAttempted: nothing,
  storageCalled: nothing,
}
