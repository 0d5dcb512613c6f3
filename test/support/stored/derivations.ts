import { type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Locks } from '../../../src/core/ports/locks.ts'
import type { DeriveRequest } from '../../../src/service/derivatives/derivations.ts'
import { createDerivations } from '../../../src/service/derivatives/derive.ts'
import { createPendingStores } from '../../../src/service/derivatives/pending-stores.ts'
import { NO_CPU_LIMIT, STRANGER } from '../requests/callers.ts'
import { recordLog, type Service } from '../service.ts'

type Options = Parameters<typeof createDerivations>[0]

/** The derivations of one process: with its own single flight, on the index and bucket of a service. */
export function derivationsOn(
  { storage }: Pick<Service, 'storage'>,
  options: { locks: Locks; timeoutMs?: number } & Pick<Options, 'run'> & Partial<Options>,
) {
  const { timeoutMs = 1000, ...rest } = options
  return createDerivations({
    pendingStores: createPendingStores(),
    ...storage,
    assets: {
      of: async () => async () => {
        throw new Error('no file is named')
      },
    },
    originals: { resolve: async () => undefined },
    events: { emit() {}, on() {}, idle: async () => {} },
    cpuTime: NO_CPU_LIMIT,
    derivativeLimits: { variantLimit: 1000, derivativesMaxBytes: 0, derivativesMaxTimes: 50 },
    evict: async () => false,
    limits: {
      sourceMaxBytes: 1e6,
      videoMaxBytes: 1e6,
      sourceMaxPixels: 1e6,
      outputMaxSide: 5000,
      outputMaxPixels: 1e6,
      outputMaxBytes: 1e9,
      timeoutMs,
      cores: 2,
    },
    log: recordLog(),
    ...rest,
  })
}

/** A request for a derivative of a PNG that was uploaded to the service. */
export async function deriveRequestFor(
  { app, storage, tokens }: Pick<Service, 'app' | 'storage' | 'tokens'>,
  { s3PathOriginal, sourceName }: { s3PathOriginal: string; sourceName: string },
): Promise<DeriveRequest & { key: ObjectKey }> {
  const key = storedKey(s3PathOriginal)
  const client = app.clients.ofToken(tokens.clientToken)
  const found = (await storage.index.find({ clientId: client.id, key })).original
  if (found?.state !== 'stored') throw new Error('the upload is not stored')
  const name = {
    key,
    folder: '',
    sourceName,
    format: { name: 'png', group: 'image', mediaType: 'image/png', extension: 'png' },
  } as const
  const plan = { steps: [], variant: 'w=1', variesBy: [], notes: [] }
  const { signal } = new AbortController()
  return { client, caller: STRANGER, name, record: found.record, plan, signal, key }
}
