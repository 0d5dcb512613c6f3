import { Readable } from 'node:stream'
import { createRefCounted, type Held } from '../../core/async/ref-counted.ts'
import { singleFlight } from '../../core/async/single-flight.ts'
import { createFailures } from '../../core/budgets/failures.ts'
import { type Asset, withLastModified } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { cleanFileName } from '../../core/files/file-name.ts'
import type { Log } from '../../core/log.ts'
import type { Preferences } from '../../core/media/preferences.ts'
import { sniff } from '../../core/media/sniff/sniff.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { Spool } from '../../core/ports/spool.ts'
import { type OnLimit, orUnmodified } from '../../pipeline/plan/or-unmodified.ts'
import type { Plan, PlanInput, Planner } from '../../pipeline/plan/plan.ts'
import { withFallback } from '../../pipeline/plan/with-fallback.ts'
import { refuseParts } from '../../pipeline/run/refuse-parts.ts'
import type { WorkRunner } from '../../pipeline/run/run.ts'
import { type Delivery, newFormatOf } from '../delivery/deliveries.ts'
import { checkNamedPublic } from '../delivery/named-files.ts'
import type { Assets } from '../delivery/referenced-files.ts'
import { createLeftovers, type Leftovers } from '../derivatives/cleanup.ts'
import { payerOf } from '../derivatives/make.ts'
import type { SourceNotes } from '../derivatives/source-facts.ts'
import { measured, metered, newMeter, takeHead } from '../upload/incoming-bytes.ts'
import { checkGroup } from './keep.ts'
import type { Remotes } from './source.ts'

export interface RemotePictureRequest {
  client: Client
  caller: Caller
  /** A URL from `parseRemoteUrl`. */
  url: string
  /** The transformation parameters; empty to send the image unmodified. */
  query: ReadonlyArray<readonly [name: string, value: string]>
  preferences: Preferences
  /** Whether the client has signed the URL. */
  isSigned: boolean
  /** Called before the fetch. Its error is the response. */
  beforeFetching: () => Promise<void>
  signal: AbortSignal
}

/** A remote image to send, transformed or unmodified. */
export interface RemotePicture
  extends Pick<Delivery, 'asset' | 'originalName' | 'newFormat' | 'variesBy' | 'fallbackReason' | 'notes'> {
  /** The same for the same bytes of the source and the same transformation. */
  etag: string
}

/** Remote images, transformed on the fly. Nothing is stored. */
export interface RemotePictures {
  /**
   * Simultaneous equal requests share one fetch in this process.
   * @returns the image; the caller must release it after sending it
   * @throws Problem as `Remotes` does; 422 for a file that is no image or cannot be transformed; 400, 403 for the query
   */
  deliver(request: RemotePictureRequest): Promise<Held<RemotePicture>>
  /** Resolves when all temporary files are deleted. */
  idle(): Promise<void>
}

// Larger results are written to a file: in memory they would have to wait for slow readers.
const MEMORY_MAX_BYTES = 8 * 1024 * 1024

export function createRemotePictures({
  remotes,
  spool,
  plan,
  assets,
  run,
  sourceNotes,
  limits,
  timeoutMs,
  onLimit,
  log,
  now = Date.now,
}: {
  remotes: Remotes
  spool: Spool
  plan: Planner
  assets: Assets
  run: WorkRunner
  sourceNotes: SourceNotes
  limits: TransformLimits
  /** Time limit of a fetch. */
  timeoutMs: number
  onLimit: OnLimit
  log: Log
  now?: () => number
}): RemotePictures {
  const uses = createRefCounted<RemotePicture>()
  const failures = createFailures(now)

  /** @param leftovers are removed when the picture has been sent */
  async function make(
    { client, caller, url, query, preferences, isSigned }: RemotePictureRequest,
    { signal, leftovers }: { signal: AbortSignal; leftovers: Leftovers },
  ): Promise<RemotePicture> {
    const file = await remotes.open({
      client,
      asker: 'anyone',
      address: caller.address,
      url,
      timeoutMs,
      signal,
      maxBytes: limits.sourceMaxBytes,
    })
    try {
      const incoming = await takeHead(file.bytes)
      const { format, mediaType } = await sniff(incoming.head, file.name)
      checkGroup(format, 'image')
      const input: PlanInput = { query, format, preferences, rules: client.rules }
      // Refuse an invalid parameter before the rest of the file is fetched.
      const planned = plan(input)
      if (!isSigned) checkNamedPublic(planned, client)
      const meter = newMeter(format)
      const bytes = Readable.from(metered(incoming, { meter }), { objectMode: false })
      const spooled = await spool(bytes, { mediaType, signal })
      leftovers.add(spooled.remove)
      const changedAt = Math.min(file.changedAt ?? now(), now())
      const source = { ...withLastModified(spooled.asset, changedAt), ...measured(meter) }
      return await transformed(source, { client, caller, input, name: file.name, signal, leftovers })
    } finally {
      file.bytes.destroy()
    }
  }

  /** The source as its plan transforms it, or untransformed when it exceeds a limit and {@link onLimit} permits that. */
  async function transformed(
    source: Asset & { sha256: string },
    work: {
      client: Client
      caller: Caller
      input: PlanInput
      name: string
      signal: AbortSignal
      leftovers: Leftovers
    },
  ): Promise<RemotePicture> {
    const { client, caller, input, name, signal, leftovers } = work
    const planned = plan(input)
    const { variesBy, notes } = planned
    const original = {
      asset: source,
      etag: `fetch/${source.sha256}`,
      originalName: cleanFileName(name) || `file.${input.format.extension}`,
      newFormat: undefined,
      variesBy,
      notes,
    }
    if (planned.steps.length === 0) return original
    async function render(current: Plan): Promise<RemotePicture> {
      const rendered = await run(current, source, {
        ...payerOf({ client, caller }),
        asset: await assets.of(client, current),
        storePart: refuseParts,
        limits,
        signal,
        log,
        afterwards: leftovers.add,
      })
      const asset = withLastModified(
        await inLittleMemory(rendered, { signal, leftovers }),
        +source.lastModified,
      )
      return {
        ...original,
        asset,
        newFormat: newFormatOf(asset, input.format),
        variesBy: current.variesBy,
        notes: [...current.notes, ...sourceNotes(source)],
        etag: `${original.etag}_${current.variant}`,
      }
    }
    const renderOnce = () =>
      withFallback(plan, { plan: planned, input }, async (current) => {
        const failure = `${client.id} ${source.sha256} ${current.variant}`
        try {
          failures.check(failure)
          return await render(current)
        } catch (error) {
          failures.remember(failure, error)
          throw error
        }
      })
    return orUnmodified({ planned, onLimit }, renderOnce, async () => original)
  }

  async function inLittleMemory(
    rendered: Asset,
    { signal, leftovers }: { signal: AbortSignal; leftovers: Leftovers },
  ): Promise<Asset> {
    if (rendered.size <= MEMORY_MAX_BYTES || rendered.file !== undefined) return rendered
    const spooled = await spool(await rendered.open({ signal }), { mediaType: rendered.mediaType, signal })
    leftovers.add(spooled.remove)
    return spooled.asset
  }

  function begin(request: RemotePictureRequest) {
    const leftovers = createLeftovers(log, {})
    return {
      work: singleFlight<RemotePicture>(
        async (signal, respond) => respond(await make(request, { signal, leftovers })),
        // The wait for a turn, the render, and a second render in another format.
        { limitMs: timeoutMs + 3 * limits.timeoutMs },
      ),
      end: leftovers.remove,
    }
  }

  return {
    async deliver(request) {
      const { client, url, query, preferences, isSigned, beforeFetching, signal } = request
      remotes.checkUrl({ client, asker: 'anyone', url })
      await beforeFetching()
      const name = JSON.stringify([client.id, client.rules ?? {}, url, query, preferences, isSigned])
      return uses.hold(name, () => begin(request), signal)
    },
    idle: uses.idle,
  }
}
