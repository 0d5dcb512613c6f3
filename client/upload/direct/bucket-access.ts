import type { Api } from '../../http/request.ts'

/** What is known about the direct uploads of one client of a service. */
export interface BucketAccess {
  /** Whether a request to its bucket has arrived. */
  isReached: boolean
  /** Whether files are sent to the service at once, for a while. */
  isAvoided(isAutomatic: boolean): boolean
  /** `automatic`: the service permits only uploads that the caller has chosen. */
  avoid(which: 'automatic' | 'all'): void
}

// Then it is tried again: a process may run for years, and an outage ends.
const AVOIDED_MS = 3_600_000

const byApi = new WeakMap<Api, BucketAccess>()
const byLink = new Map<string, BucketAccess>()

/**
 * What is known of uploads by a secret, or by links of one client. Each uploader has an Api of its own, so links share what is known.
 *
 * @param target the link, or the URL of an upload that a link has begun
 */
export function bucketAccessOf(api: Api, target: string | undefined): BucketAccess {
  if (target === undefined) {
    const access = byApi.get(api) ?? newAccess()
    byApi.set(api, access)
    return access
  }
  const [, service, client] = LINK.exec(target) ?? []
  const name = `${service} ${client}`
  const access = byLink.get(name) ?? newAccess()
  byLink.set(name, access)
  return access
}

const LINK = /^(.*)\/v1\/upload\/(?:sign\/[^/]+\/|direct\/[^~]+~)([^./]+)/

function newAccess(): BucketAccess {
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
