import { parseAliasName } from '../../core/aliases/name.ts'
import type { Client } from '../../core/clients/client.ts'
import type { CompatName } from '../../core/compat/compat-url.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import { Problem } from '../../core/problem.ts'
import type { Aliases } from '../../service/aliases/aliases.ts'

/** A file of ours that the URL of another service names. */
export interface FoundFile {
  path: string
  /** The format that the URL requests. */
  format?: string
  /** When the alias was set to this file, in milliseconds since 1970; absent for a file that is found by its own path. */
  setAt?: number
}

/**
 * Finds the file by the alias of one of its names, as an import creates them; else by the first name as a path of ours.
 *
 * @throws Problem 404 for an alias of a file of another type, 503
 */
export async function findFile(
  names: readonly CompatName[],
  { client, group, aliases }: { client: Client; group: MediaGroup; aliases: Pick<Aliases, 'target'> },
): Promise<FoundFile> {
  for (const { name, ...format } of names) {
    try {
      const { key, setAt } = await aliases.target({ client, name: parseAliasName(name, 'path'), group })
      return { path: key, setAt, ...format }
    } catch (error) {
      if (!(error instanceof Problem) || !['alias_not_found', 'bad_path'].includes(error.code)) throw error
    }
  }
  return { path: names[0]?.name ?? '' }
}
