import { parseAliasName } from '../../core/aliases/name.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import { parentFolder } from '../../core/files/folder.ts'
import { FORMATS } from '../../core/media/formats.ts'
import { Problem } from '../../core/problem.ts'
import { aliasNotFound } from '../../service/aliases/alias-problems.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'

/** The delivery URL of an alias, without signature. */
export interface AliasTarget {
  /** Decoded once. */
  name: string
  /** The type in the URL. */
  group: string
  /** The parameters of the transformation. */
  query: ReadonlyArray<readonly [name: string, value: string]>
}

/**
 * Checks that a secret may sign the delivery URL of an alias. For a secret with a folder, the alias and all files that parameters name
 * must be in the folder. The file of the alias may be elsewhere: the alias makes it a file of this folder.
 *
 * @throws Problem 400, 404
 */
export function checkAliasTarget(
  { name, group, query }: AliasTarget,
  { grant, deliveries }: { grant: Grant; deliveries: Pick<Deliveries, 'plan'> },
): void {
  const parsed = parseAliasName(name, 'url')
  if (grant.folder === undefined) return
  if (!isWithin(parentFolder(parsed), grant.folder)) throw aliasNotFound()
  // The alias may be set to a file of another format later. So the parameters must be permitted in all formats that accept them.
  const refusals = FORMATS.filter((format) => format.group === group).map((format) => {
    try {
      deliveries.plan({ ...grant, format, query, preferences: {} })
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error
      return error
    }
    return undefined
  })
  const [first] = refusals
  if (first && refusals.every((one) => one !== undefined)) throw first
}
