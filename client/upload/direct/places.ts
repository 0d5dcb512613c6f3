import type { Api } from '../../http/request.ts'

/** What is known about the direct uploads of one client of a service. */
export interface Place {
  /** Whether a request to its bucket has arrived. */
  isReached: boolean
  /** Whether files are sent to the service at once, for a while. */
  isAvoided(isAutomatic: boolean): boolean
  /** `automatic`: the service permits only uploads that the caller has chosen. */
  avoid(which: 'automatic' | 'all'): void
}

// Then it is tried again: a process may run for years, and an outage ends.
const AVOIDED_MS = 3_600_000

const byApi = new WeakMap<Api, Place>()
const byLink = new Map<string, Place>()

/**
 * What is known of uploads by a secret, or by links of one client. Each uploader has an Api of its own, so links share what is known.
 *
 * @param target the link, or the URL of an upload that a link has begun
 */
export function placeOf(api: Api, target: string | undefined): Place {
  if (target === undefined) {
    const place = byApi.get(api) ?? newPlace()
    byApi.set(api, place)
    return place
  }
  const [, service, client] = LINK.exec(target) ?? []
  const name = `${service} ${client}`
  const place = byLink.get(name) ?? newPlace()
  byLink.set(name, place)
  return place
}

const LINK = /^(.*)\/v1\/upload\/(?:sign\/[^/]+\/|direct\/[^~]+~)([^./]+)/

function newPlace(): Place {
  const until = { automatic: Number.NEGATIVE_INFINITY, all: Number.NEGATIVE_INFINITY }
  return {
    isReached: false,
    isAvoided: (isAutomatic) =>
      Math.max(until.all, isAutomatic ? until.automatic : until.all) > performance.now(),
    avoid(which) {
      until[which] = performance.now() + AVOIDED_MS
    },
  }
}
