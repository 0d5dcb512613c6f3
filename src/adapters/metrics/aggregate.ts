import { AggregatorRegistry } from 'prom-client'

// Not only counters: the time of the newest start must not fall to that of an older process, which would look like a restart.
const LASTING_GAUGES = ['process_start_time_seconds']

/**
 * Merges the {@link MetricsReader.parts} of several processes into one text: sums, but averages of the event loop lag, and the highest
 * value of its 99th percentile.
 */
export function aggregateMetrics(parts: readonly unknown[]): Promise<string> {
  return merged(parts).metrics()
}

/** Merges the parts of processes that have ended into parts with what must not fall then: counters and histograms, but no gauges. */
export function lastingMetrics(parts: readonly unknown[]): unknown {
  return merged(parts)
    .getMetricsAsArray()
    .filter(({ name, type }) => String(type) !== 'gauge' || LASTING_GAUGES.includes(name))
}

function merged(parts: readonly unknown[]) {
  // The types of prom-client declare an array of arrays here.
  return AggregatorRegistry.aggregate(parts as object[])
}
