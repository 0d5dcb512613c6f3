import { isEndpoint } from '../src/core/net/http-url.ts'
import { percentDecoded } from '../src/core/text/percent-decoded.ts'
import { type Environment, integer, text, type Variable } from './variable.ts'

/** A collector, and the headers of each request to it. */
export interface OtlpTarget {
  url: string
  headers: Readonly<Record<string, string>>
}

/** What is exported by OTLP. Without a target, a signal is not exported. */
export interface TelemetrySettings {
  traces: OtlpTarget | undefined
  metrics: OtlpTarget | undefined
  serviceName: string
  resourceAttributes: Readonly<Record<string, string>>
  sampler: Sampler
  /** From 0 to 1. For the samplers with a ratio. */
  samplerRatio: number
  metricsEveryMs: number
}

const SAMPLERS = [
  ...['always_on', 'always_off', 'traceidratio'],
  ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
] as const
/** As OTEL_TRACES_SAMPLER names it. */
export type Sampler = (typeof SAMPLERS)[number]

// A standard value that is not supported is a warning.
const ANY = /./
const PROTOCOL = /^http\/protobuf$/
const EXPORTERS = /^(otlp|none)$/
const RATIO = /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/

const endpoint = (help: string) => ({ expected: 'an http or https URL', help, read: readEndpoint })
const headers = (help: string) => ({ ...pairs(help), secret: true })
const exporter = (signal: string) =>
  text({
    pattern: ANY,
    expected: 'otlp or none',
    help: `Exporter of ${signal}. none: ${signal} are not exported. otlp: also without an endpoint, then to http://localhost:4318.`,
  })

/**
 * Metrics, and the export to OpenTelemetry. The OpenTelemetry packages read further standard variables themselves, such as
 * OTEL_BSP_SCHEDULE_DELAY. Platforms set standard variables for all containers, so a value that other programs support is not refused:
 * see {@link telemetryWarnings}.
 */
export const TELEMETRY_VARIABLES = {
  METRICS_TOKEN: text({
    pattern: /^[\x21-\x7e]{16,256}$/,
    expected: '16 to 256 printable characters without spaces',
    secret: true,
    help: 'Bearer token for GET /metrics on PORT. The endpoint is off when unset.',
  }),
  METRICS_PORT: integer({
    min: 0,
    max: 65535,
    help: 'Separate port for GET /metrics, without a token. The port is off when unset. 0: any free port.',
  }),
  METRICS_HOST: text({
    pattern: /^[\w.:%-]+$/,
    expected: 'an IP address or host name',
    default: '127.0.0.1',
    help: 'IP address or host name to listen on at METRICS_PORT.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(
    'OpenTelemetry collector for traces and metrics: see docs/how-to/monitoring.md. Nothing is exported when no OTEL_ variable names an endpoint or an exporter.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint('URL for traces, used as it is.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint('URL for metrics, used as it is.'),
  OTEL_EXPORTER_OTLP_HEADERS: headers('Headers of requests to the collector, such as a token.'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers('Further headers of requests with traces.'),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headers('Further headers of requests with metrics.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: text({
    pattern: ANY,
    expected: 'http/protobuf, with the port 4318 of a collector',
    help: 'Protocol of the exporters. http/protobuf when unset.',
  }),
  OTEL_TRACES_EXPORTER: exporter('traces'),
  OTEL_METRICS_EXPORTER: exporter('metrics'),
  OTEL_TRACES_SAMPLER: text({
    pattern: ANY,
    expected: `one of ${SAMPLERS.join(', ')}`,
    help: 'Which requests are traced. parentbased_always_on when unset: as the trusted proxy has decided, otherwise all.',
  }),
  OTEL_TRACES_SAMPLER_ARG: text({
    pattern: ANY,
    expected: 'a number from 0 to 1',
    help: 'Share of the requests that a sampler with traceidratio traces. 1 when unset.',
  }),
  OTEL_SERVICE_NAME: text({
    pattern: /^.{1,255}$/,
    expected: '1 to 255 characters',
    help: 'Name of the service in traces and metrics. sluice when unset.',
  }),
  OTEL_RESOURCE_ATTRIBUTES: pairs('Further attributes of this process in traces and metrics.'),
  OTEL_METRIC_EXPORT_INTERVAL: integer({
    min: 1000,
    unit: 'milliseconds',
    help: 'Interval of the export of metrics. 60000 when unset.',
  }),
  OTEL_SDK_DISABLED: text({
    pattern: /^(true|false)$/i,
    expected: 'true or false',
    help: 'true: nothing is exported.',
  }),
} satisfies Record<string, Variable<unknown>>

type Values = Partial<{
  [N in keyof typeof TELEMETRY_VARIABLES]: NonNullable<ReturnType<(typeof TELEMETRY_VARIABLES)[N]['read']>>
}>

/** What these variables export; undefined when that is nothing. */
export function telemetrySettings(values: Values): TelemetrySettings | undefined {
  if (values.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  const traces = targetOf('TRACES', values)
  const metrics = targetOf('METRICS', values)
  if (!traces && !metrics) return undefined
  const { 'service.name': named, ...resourceAttributes } = values.OTEL_RESOURCE_ATTRIBUTES ?? {}
  return {
    traces,
    metrics,
    serviceName: values.OTEL_SERVICE_NAME ?? named ?? 'sluice',
    resourceAttributes,
    sampler: SAMPLERS.find((name) => name === values.OTEL_TRACES_SAMPLER) ?? 'parentbased_always_on',
    samplerRatio: ratioOf(values.OTEL_TRACES_SAMPLER_ARG ?? '1'),
    metricsEveryMs: values.OTEL_METRIC_EXPORT_INTERVAL ?? 60_000,
  }
}

/** A warning for each standard value that Sluice does not support; none when OpenTelemetry is disabled. */
export function telemetryWarnings(environment: Environment): string[] {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return []
  const samples = new RegExp(`^(${SAMPLERS.join('|')})$`)
  const isRatio = environment.OTEL_TRACES_SAMPLER?.endsWith('traceidratio')
  const supported: Array<[name: string, pattern: RegExp, effect: string]> = [
    ['OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOL, 'Nothing is exported.'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', PROTOCOL, 'Traces are sent by http/protobuf.'],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', PROTOCOL, 'Metrics are sent by http/protobuf.'],
    ['OTEL_TRACES_EXPORTER', EXPORTERS, 'Traces are not exported.'],
    ['OTEL_METRICS_EXPORTER', EXPORTERS, 'Metrics are not exported.'],
    ['OTEL_TRACES_SAMPLER', samples, 'It is parentbased_always_on.'],
    ['OTEL_TRACES_SAMPLER_ARG', isRatio ? RATIO : ANY, 'It is 1.'],
  ]
  return supported
    .filter(([name, pattern]) => environment[name] && !pattern.test(environment[name]))
    .map(([name, , effect]) => `${name} has a value that Sluice does not support. ${effect}`)
}

function ratioOf(text: string): number {
  return RATIO.test(text) ? Number(text) : 1
}

function targetOf(signal: 'TRACES' | 'METRICS', values: Values): OtlpTarget | undefined {
  const exporter = values[`OTEL_${signal}_EXPORTER`]
  const byDefault = exporter === 'otlp' ? 'http://localhost:4318' : undefined
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT ?? byDefault
  const url =
    values[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ??
    (base && `${base.replace(/\/$/, '')}/v1/${signal.toLowerCase()}`)
  const isSupported =
    EXPORTERS.test(exporter ?? 'otlp') && PROTOCOL.test(values.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf')
  if (exporter === 'none' || !isSupported || url === undefined) return undefined
  const headers = {
    ...values.OTEL_EXPORTER_OTLP_HEADERS,
    ...values[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`],
  }
  return { url, headers }
}

function readEndpoint(value: string): string | undefined {
  return isEndpoint(value) ? value : undefined
}

/** Names and values as in the header `baggage`: `name=value,other=value`, percent-encoded. */
function pairs(help: string): Variable<Readonly<Record<string, string>>> {
  return {
    help,
    expected: 'pairs like name=value, separated by commas',
    read(value) {
      const given = value.split(',').filter((pair) => pair.trim() !== '')
      const read = given.map((pair) => {
        const at = pair.indexOf('=')
        return [pair.slice(0, at).trim(), percentDecoded(pair.slice(at + 1).trim())] as const
      })
      const isValid = read.every(([name, text], i) => given[i]?.includes('=') && name && text !== undefined)
      return isValid ? (Object.fromEntries(read) as Record<string, string>) : undefined
    },
  }
}
