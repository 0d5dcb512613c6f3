import { sha256 } from '../../core/bytes/digest.ts'
import type { Receiver } from '../../core/ports/events/delivery-log.ts'
import type { LoadedEventPlugin } from '../../pipeline/load/load.ts'

/** A digest, since targets are mostly URLs, and some contain secrets. */
export function targetDigest(target: string): string {
  return sha256(target).slice(0, 16)
}

/** The receiver of a target as operators see it, without secrets that its URL may contain. */
export function receiverOf({ plugin }: Pick<LoadedEventPlugin, 'plugin'>, target: string): Receiver {
  const host = URL.canParse(target) ? new URL(target).host : ''
  return { id: targetDigest(target), name: host === '' ? plugin.name : host }
}

/** The kind of the jobs that call a durable plugin. */
export function kindOf({ name }: { name: string }): string {
  return `event-${name}`
}
