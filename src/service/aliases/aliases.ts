import { type Alias, type AliasVersion, versionToRestore, withTarget } from '../../core/aliases/alias.ts'
import { aliasUrl } from '../../core/aliases/alias-url.ts'
import type { Client } from '../../core/clients/client.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { PathCandidates } from '../../core/files/request-path.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { Problem } from '../../core/problem.ts'
import { originalOf } from '../files/describe.ts'
import type { Redirects } from '../moves/redirects.ts'
import type { Originals } from '../originals/originals.ts'
import {
  aliasNotFound,
  aliasOfOtherType,
  aliasTargetMissing,
  aliasVersionNotFound,
} from './alias-problems.ts'
import type { AliasRecords, LockedAlias } from './alias-records.ts'

/** A client, and the name of one of its aliases as returned by `parseAliasName`. */
export interface AliasRequest {
  client: Client
  name: string
}

/** A change of an alias. Its `check` may throw to refuse the change; its argument is undefined for a new alias. */
export interface AliasChange extends AliasRequest {
  check(present: Alias | undefined): void
  signal: AbortSignal
}

/** A version of an alias, and whether its original was deleted. */
export type DescribedVersion = AliasVersion & { isMissing: boolean }

/** An alias with the state of each version. The first version is the current one. */
export interface DescribedAlias {
  alias: Alias
  versions: [DescribedVersion, ...DescribedVersion[]]
}

/** Stable names for originals. All methods throw Problem 503 when the bucket or the index is unavailable. */
export interface Aliases {
  /**
   * Sets an alias to an original, and creates the alias when it does not exist. With `isSilent` it emits no event.
   * @throws Problem 404 for a file that does not exist, and the errors of `check`
   */
  set(
    request: AliasChange & { path: PathCandidates; isSilent?: boolean },
  ): Promise<DescribedAlias & { isNew: boolean }>
  /**
   * Sets an alias to the original of an earlier version, which becomes a new version.
   * @param request.version default: the previous version
   * @param request.folder only to originals in this folder; empty for all
   * @throws Problem 404 when the alias, the version or its original does not exist, and the errors of `check`
   */
  rollback(request: AliasChange & { version: number | undefined; folder: string }): Promise<DescribedAlias>
  /** Deletes an alias with its versions. No file is deleted. @throws Problem 404, and the errors of `check` */
  remove(request: AliasChange): Promise<void>
  /** @throws Problem 404 */
  describe(request: AliasRequest): Promise<DescribedAlias>
  /** The current version, for a delivery of this type. @throws Problem 404, also when its original has another type */
  target(request: AliasRequest & { group: MediaGroup }): Promise<AliasVersion>
}

/** Returns the state of each version of an alias. */
export type DescribeAlias = (client: Client, alias: Alias) => Promise<DescribedAlias>

/** @param redirects of moved originals: while it lasts, a moved original is not missing */
export function createDescribeAlias({
  originals,
  redirects,
}: {
  originals: Pick<Originals, 'resolveToRead'>
  redirects: Pick<Redirects, 'follow'>
}): DescribeAlias {
  const described = async (client: Client, version: AliasVersion): Promise<DescribedVersion> => {
    const full = parseKey(version.key)
    const found =
      full &&
      ((await originals.resolveToRead(client, { full })) ?? (await redirects.follow(client, full.key)))
    return { ...version, isMissing: found === undefined }
  }
  return async (client, alias) => {
    const [current, ...others] = alias.versions
    const [first, ...rest] = await Promise.all([
      described(client, current),
      ...others.map((one) => described(client, one)),
    ])
    return { alias, versions: [first, ...rest] }
  }
}

/** What an alias is set to. */
type Target = Pick<Alias, 'name'> &
  Pick<AliasVersion, 'key'> & { client: Client; isSilent?: boolean | undefined }
/** The present and the previous file of a changed alias. */
type Keys = { key: ObjectKey; formerKey?: ObjectKey } | { key?: never; formerKey: ObjectKey }

/** Emits `alias.changed` after each change, except for a damaged alias. @param baseUrl of delivery URLs, without a trailing slash */
export function createAliases({
  records,
  originals,
  redirects,
  describe,
  events,
  baseUrl,
  now = Date.now,
}: {
  records: AliasRecords
  originals: Originals
  redirects: Pick<Redirects, 'follow'>
  describe: DescribeAlias
  events: Pick<EventBus, 'emit'>
  baseUrl: string
  now?: () => number
}): Aliases {
  function emit({ id, token }: Client, name: string, keys: Keys) {
    const src = aliasUrl(name, { baseUrl, token, key: keys.key ?? keys.formerKey })
    events.emit('alias.changed', { clientId: id, name, src, ...keys })
  }

  /** Writes the alias with another target, unless it has this target already. */
  async function put(
    record: LockedAlias,
    before: Alias | undefined,
    { client, isSilent, ...target }: Target,
  ): Promise<Alias> {
    const alias = withTarget(before, { ...target, at: now() })
    if (alias === before) return alias
    await record.put(alias)
    const former = before ? { formerKey: before.versions[0].key } : {}
    if (!isSilent) emit(client, alias.name, { key: target.key, ...former })
    return alias
  }

  return {
    async set({ client, name, path, check, isSilent, signal }) {
      const { key } = (await originalOf(originals, { client, path })).name
      const work = async (record: LockedAlias) => {
        const before = await record.read()
        check(before)
        return {
          alias: await put(record, before, { client, name, key, isSilent }),
          isNew: before === undefined,
        }
      }
      const { alias, isNew } = await records.change(client, name, work, { signal })
      return { ...(await describe(client, alias)), isNew }
    },

    async rollback({ client, name, version, folder, check, signal }) {
      const work = async (record: LockedAlias) => {
        const before = await record.read()
        if (!before) throw aliasNotFound()
        check(before)
        const restored = versionToRestore(before, version)
        if (!restored) throw aliasVersionNotFound(version)
        const full = parseKey(restored.key)
        const found =
          full && ((await originals.resolve(client, { full })) ?? (await redirects.follow(client, full.key)))
        if (!found || !isWithin(found.name.folder, folder)) throw aliasTargetMissing()
        return put(record, before, { client, name, key: found.name.key })
      }
      return describe(client, await records.change(client, name, work, { signal }))
    },

    async remove({ client, name, check, signal }) {
      const work = async (record: LockedAlias) => {
        const before = await record.read().catch(unlessDamaged)
        if (!before) throw aliasNotFound()
        check(before === 'damaged' ? undefined : before)
        await record.delete()
        if (before !== 'damaged') emit(client, name, { formerKey: before.versions[0].key })
      }
      await records.change(client, name, work, { signal })
    },

    async describe({ client, name }) {
      const alias = await records.read(client, name)
      if (!alias) throw aliasNotFound()
      return describe(client, alias)
    },

    async target({ client, name, group }) {
      const alias = await records.readSoon(client, name)
      if (!alias) throw aliasNotFound()
      const [current] = alias.versions
      const type = parseKey(current.key)?.format.group ?? group
      if (type !== group) throw aliasOfOtherType({ type, received: group })
      return current
    },
  }
}

/** A damaged record can be deleted, but not read. */
function unlessDamaged(error: unknown): 'damaged' {
  if (error instanceof Problem) throw error
  return 'damaged'
}
