import { type Receiver, receiver } from '../requests/receiver.ts'

/** A collector of OpenTelemetry that decodes what the exporters send by OTLP over HTTP in protobuf. */
export interface Collector extends Pick<Receiver, 'received' | 'close'> {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string
  spans(): ReceivedSpan[]
  metrics(): ReceivedMetric[]
}

export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Undefined for the first span of a trace. */
  parentId: string | undefined
  name: string
  /** 1: internal, 2: server, 3: client, 4: producer, 5: consumer. */
  kind: number
  attributes: Record<string, unknown>
  links: Array<{ traceId: string; spanId: string }>
  /** 2: error. */
  status: number
  resource: Record<string, unknown>
}

export interface ReceivedMetric {
  name: string
  points: Array<{
    labels: Record<string, unknown>
    /** The value; of a histogram its sum. */
    value: number
    /** Of a histogram. */
    count?: number
    counts?: number[]
    bounds?: number[]
  }>
  isCounter: boolean
  resource: Record<string, unknown>
}

export async function otlpCollector(status = 200): Promise<Collector> {
  const server = await receiver(status)
  const bodies = (path: string) =>
    server.received.flatMap(({ body }, i) => (server.requests[i]?.url === path ? [fieldsOf(body)] : []))
  return {
    url: server.url(''),
    received: server.received,
    close: () => server.close(),
    spans: () => bodies('/v1/traces').flatMap((request) => request.messages(1).flatMap(spansOf)),
    metrics: () => bodies('/v1/metrics').flatMap((request) => request.messages(1).flatMap(metricsOf)),
  }
}

function spansOf(resourceSpans: Fields): ReceivedSpan[] {
  const resource = attributesOf(resourceSpans.message(1), 1)
  const spans = resourceSpans.messages(2).flatMap((scope) => scope.messages(2))
  return spans.map((span) => ({
    traceId: span.hex(1) ?? '',
    spanId: span.hex(2) ?? '',
    parentId: span.hex(4),
    name: span.text(5),
    kind: span.number(6),
    attributes: attributesOf(span, 9),
    links: span.messages(13).map((link) => ({ traceId: link.hex(1) ?? '', spanId: link.hex(2) ?? '' })),
    status: span.message(15).number(3),
    resource,
  }))
}

function metricsOf(resourceMetrics: Fields): ReceivedMetric[] {
  const resource = attributesOf(resourceMetrics.message(1), 1)
  const metrics = resourceMetrics.messages(2).flatMap((scope) => scope.messages(2))
  return metrics.map((metric) => {
    const [gauge, sum, histogram] = [5, 7, 9].map((field) => metric.messages(field)[0])
    const plain = (gauge ?? sum)?.messages(1) ?? []
    return {
      name: metric.text(1),
      isCounter: sum?.number(3) === 1,
      resource,
      points: [
        ...plain.map((point) => ({ labels: attributesOf(point, 7), value: point.double(4) })),
        ...(histogram?.messages(1) ?? []).map((point) => ({
          labels: attributesOf(point, 9),
          count: Number(point.fixed(4)),
          value: point.double(5),
          counts: point.packed(6, (bytes, at) => Number(bytes.readBigUInt64LE(at))),
          bounds: point.packed(7, (bytes, at) => bytes.readDoubleLE(at)),
        })),
      ],
    }
  })
}

function attributesOf(message: Fields, field: number): Record<string, unknown> {
  return Object.fromEntries(message.messages(field).map((pair) => [pair.text(1), anyValue(pair.message(2))]))
}

function anyValue(value: Fields): unknown {
  if (value.has(1)) return value.text(1)
  if (value.has(2)) return value.number(2) === 1
  if (value.has(3)) return value.number(3)
  if (value.has(4)) return value.double(4)
  return value.message(5).messages(1).map(anyValue)
}

/** The fields of a message of protobuf, by their numbers. A missing one is empty or 0. */
interface Fields {
  has(field: number): boolean
  messages(field: number): Fields[]
  message(field: number): Fields
  text(field: number): string
  hex(field: number): string | undefined
  number(field: number): number
  fixed(field: number): bigint
  double(field: number): number
  packed(field: number, read: (bytes: Buffer, at: number) => number): number[]
}

/** Reads a message of protobuf. @see https://protobuf.dev/programming-guides/encoding/ */
function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, Array<Buffer | bigint>>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message is truncated')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => {
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    const value = wire === 0 ? varint() : take(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()))
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  const all = (field: number) => fields.get(field) ?? []
  const bytesOf = (field: number) => all(field).find((value) => Buffer.isBuffer(value)) ?? Buffer.alloc(0)
  return {
    has: (field: number) => fields.has(field),
    messages: (field: number): Fields[] =>
      all(field).flatMap((value) => (Buffer.isBuffer(value) ? [fieldsOf(value)] : [])),
    message: (field: number): Fields => fieldsOf(bytesOf(field)),
    text: (field: number) => bytesOf(field).toString(),
    hex: (field: number) => bytesOf(field).toString('hex') || undefined,
    number: (field: number) => Number(all(field)[0] ?? 0n),
    fixed: (field: number) => (fields.has(field) ? bytesOf(field).readBigUInt64LE(0) : 0n),
    double: (field: number) => (fields.has(field) ? bytesOf(field).readDoubleLE(0) : 0),
    packed: (field: number, read: (bytes: Buffer, at: number) => number) => {
      const values = bytesOf(field)
      return Array.from({ length: values.length / 8 }, (_, i) => read(values, i * 8))
    },
  }
}
