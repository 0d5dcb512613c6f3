import { type Config, streamedMaxBytes } from '../../config/load.ts'
import { guardedFetcher } from '../adapters/fetcher/guarded.ts'
import { tracedFetcher } from '../adapters/telemetry/traced-fetcher.ts'
import type { Log } from '../core/log.ts'
import type { FetchAccess } from '../core/ports/fetcher.ts'
import { createRemoteMirror } from '../service/remote/keep.ts'
import { createRemotes } from '../service/remote/source.ts'
import { createRemotePictures } from '../service/remote/transform.ts'
import { createRemoteUpload } from '../service/remote/upload.ts'
import type { Loaded } from './plugins.ts'
import type { Services } from './services.ts'
import type { Transformations } from './transforms.ts'

/**
 * The services for files of other servers: uploads by URL, files
 * stored at their first request, and transformations without storing.
 */
export function openRemotes(
  { backends, buckets, originals, upload, tracing }: Services,
  {
    config,
    log,
    loaded,
    transformations,
  }: { config: Config; log: Log; loaded: Loaded; transformations: Transformations },
) {
  const { locks } = backends
  const { assets, limits, plan, run, sourceNotes } = transformations
  const timeoutMs = config.FETCH_KEEP_TIMEOUT_SECONDS * 1000
  const guarded = guardedFetcher({ access: fetchAccess(config) })
  const fetcher = tracing ? tracedFetcher(guarded, { tracing, target: 'remote file' }) : guarded
  const remotes = createRemotes({ fetcher })
  const remoteUpload = createRemoteUpload({ remotes, upload, timeoutMs, maxBytes: streamedMaxBytes(config) })
  return {
    remoteUpload,
    remoteMirror: createRemoteMirror({ remotes, remoteUpload, originals, buckets, locks, timeoutMs }),
    remotePictures: createRemotePictures({
      remotes,
      spool: loaded.spool,
      plan,
      assets,
      run,
      sourceNotes,
      limits,
      log,
      timeoutMs: config.FETCH_TIMEOUT_SECONDS * 1000,
      onLimit: loaded.chain.onLimit,
    }),
  }
}

/** The ports and IP addresses that may be fetched from, in addition to the public web. */
export function fetchAccess({ FETCH_PORTS, FETCH_ALLOW_ADDRESSES }: Config): FetchAccess {
  return { ports: (FETCH_PORTS ?? []).map(Number), addresses: FETCH_ALLOW_ADDRESSES ?? [] }
}
