import { buildUrl, type DeliverySource } from './build-url.ts'
import type { TransformParameters } from './parameters.ts'

/** A delivery URL that is built step by step. It is a text wherever one is expected: `img.src = url(record).width(400)`. */
export type UrlBuilder = {
  /** Sets a parameter. Without a value: true. */
  readonly [Name in keyof TransformParameters]-?: (value?: TransformParameters[Name]) => UrlBuilder
} & {
  /** Sets several parameters. */
  with(parameters: TransformParameters): UrlBuilder
  toString(): string
  toJSON(): string
  [Symbol.toPrimitive](): string
}

/**
 * Begins a delivery URL: `url(record).width(400).format('auto').toString()`. Each parameter is a method, also those of plugins. Each
 * call returns a new builder.
 */
export function url(src: DeliverySource): UrlBuilder {
  return builder(src, {})
}

function builder(src: DeliverySource, parameters: TransformParameters): UrlBuilder {
  const text = () => buildUrl(src, parameters)
  const members: Record<string | symbol, unknown> = {
    with: (more: TransformParameters) => builder(src, { ...parameters, ...more }),
    toString: text,
    toJSON: text,
    [Symbol.toPrimitive]: text,
    // `await` must not take it for a promise.
    // biome-ignore lint/suspicious/noThenProperty: the member is undefined
    then: undefined,
  }
  return new Proxy(members, {
    get: (target, name) =>
      typeof name === 'symbol' || Object.hasOwn(target, name)
        ? target[name]
        : (value: unknown = true) => builder(src, { ...parameters, [name]: value }),
  }) as unknown as UrlBuilder
}
