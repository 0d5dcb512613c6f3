import type { Alias } from '../../core/aliases/alias.ts'
import { aliasFolderPrefix, aliasNameOf } from '../../core/aliases/name.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import type { AliasRecords } from './alias-records.ts'
import type { DescribeAlias, DescribedVersion } from './aliases.ts'

/** A folder of aliases, and the part of their list. */
export interface AliasListRequest {
  client: Client
  /** From `parseFolder`: only aliases in it or below. Empty: all aliases. */
  folder: string
  /** The name after which the list continues. */
  after?: string | undefined
  /** Maximum number of aliases, at least 1. */
  limit: number
  signal: AbortSignal
}

/** An alias of a list, with its current version. */
export interface ListedAlias extends DescribedVersion {
  name: string
}

/** One page of a list. */
export interface AliasPage {
  aliases: ListedAlias[]
  /** The name for `after` of the next request. Undefined at the end of the list. */
  next: string | undefined
}

/**
 * Lists aliases by name, in the order of their UTF-16 code units. Each page lists all names of the folder in the bucket: 1000 names per request to
 * S3.
 *
 * @throws Problem 503
 */
export type ListAliases = (request: AliasListRequest) => Promise<AliasPage>

const READS_AT_ONCE = 16
// Names that are in memory at most, in addition to those of the page.
const SURPLUS = 1000

export function createListAliases({
  buckets,
  records,
  describe,
}: {
  buckets: Buckets
  records: Pick<AliasRecords, 'read'>
  describe: DescribeAlias
}): ListAliases {
  async function listed(client: Client, name: string): Promise<ListedAlias | undefined> {
    const alias = await unlessDamaged(records.read(client, name))
    // It was deleted after it was listed.
    if (!alias) return undefined
    const [current] = alias.versions
    const { versions } = await describe(client, { name, versions: [current] })
    return { name, ...versions[0] }
  }

  return async ({ client, folder, after, limit, signal }) => {
    const names = await firstNames(buckets.of(client), { folder, after, most: limit + 1, signal })
    const next = names.length > limit ? names[limit - 1] : undefined
    const work = (name: string) => listed(client, name)
    const aliases: ListedAlias[] = []
    for await (const alias of mapConcurrent(names.slice(0, limit), {
      concurrency: READS_AT_ONCE,
      signal,
      work,
    }))
      if (alias) aliases.push(alias)
    return { aliases, next }
  }
}

/** The first names after a position. Buckets list keys in no particular order. */
async function firstNames(
  bucket: Bucket,
  { folder, after, most, signal }: Pick<AliasListRequest, 'folder' | 'after' | 'signal'> & { most: number },
): Promise<string[]> {
  let names: string[] = []
  for await (const key of bucket.list(aliasFolderPrefix(folder))) {
    signal.throwIfAborted()
    const name = aliasNameOf(key)
    if (name === undefined || (after !== undefined && name <= after)) continue
    names.push(name)
    if (names.length >= most + SURPLUS) names = names.sort().slice(0, most)
  }
  return names.sort().slice(0, most)
}

/** One damaged record must not fail the whole list. `sluice check` reports it. */
async function unlessDamaged(reading: Promise<Alias | undefined>): Promise<Alias | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Problem) throw error
    return undefined
  }
}
