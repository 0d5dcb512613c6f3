import { type HrTime, ValueType } from '@opentelemetry/api'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { MetricsReader } from '../../core/ports/metrics.ts'

/** A metric as prom-client describes it. The values of a histogram are its buckets, its sum and its count. */
interface PromMetric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  values: ReadonlyArray<PromValue>
}

interface PromValue {
  value: number
  labels: Readonly<Record<string, string | number>>
  /** Of a histogram: the name with `_bucket`, `_sum` or `_count`. */
  metricName?: string
}

type Point = Pick<MetricData['dataPoints'][number], 'startTime' | 'endTime' | 'attributes'>

/** Reads the metrics for Prometheus at each export. So each of them is declared once, and has the same name and labels in both. */
export function prometheusBridge(
  { parts }: Pick<MetricsReader, 'parts'>,
  scope: { name: string; version: string },
): MetricProducer {
  const startTime = hrTime(Date.now())
  return {
    async collect() {
      const metrics = (await parts()) as readonly PromMetric[]
      const endTime = hrTime(Date.now())
      const pointOf = (labels: PromValue['labels']): Point => ({
        startTime,
        endTime,
        attributes: texts(labels),
      })
      const converted = metrics.map((metric) => metricData(metric, pointOf))
      return {
        // The reader replaces the resource by that of the process.
        resourceMetrics: {
          resource: emptyResource(),
          scopeMetrics: [{ scope, metrics: converted.filter(({ dataPoints }) => dataPoints.length > 0) }],
        },
        errors: [],
      }
    },
  }
}

function metricData(metric: PromMetric, pointOf: (labels: PromValue['labels']) => Point): MetricData {
  const { name, help, type, values } = metric
  const base = {
    // The names have their units, as `_seconds`.
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (type === 'histogram')
    return {
      ...base,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: histograms(metric).map(({ labels, ...value }) => ({ ...pointOf(labels), value })),
    }
  const dataPoints = values.map(({ labels, value }) => ({ ...pointOf(labels), value }))
  return type === 'counter'
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
}

interface HistogramValue {
  labels: PromValue['labels']
  buckets: { boundaries: number[]; counts: number[] }
  sum: number
  count: number
}

/** The buckets of Prometheus count all smaller values too, those of OTLP only their own. */
function histograms({ name, values }: PromMetric): HistogramValue[] {
  const byLabels = new Map<string, HistogramValue & { below: number }>()
  for (const { labels: all, value, metricName } of values) {
    const { le, ...labels } = all
    const key = JSON.stringify(Object.entries(labels).sort())
    const histogram = byLabels.get(key) ?? {
      labels,
      buckets: { boundaries: [], counts: [] },
      sum: 0,
      count: 0,
      below: 0,
    }
    byLabels.set(key, histogram)
    if (metricName === `${name}_sum`) histogram.sum = value
    else if (metricName === `${name}_count`) histogram.count = value
    else {
      histogram.buckets.counts.push(value - histogram.below)
      histogram.below = value
      if (le !== '+Inf') histogram.buckets.boundaries.push(Number(le))
    }
  }
  return [...byLabels.values()].map(({ below, ...histogram }) => histogram)
}

function texts(labels: PromValue['labels']): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6]
}
