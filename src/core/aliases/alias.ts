import type { ObjectKey } from '../files/object-key.ts'

/** A target of an alias. */
export interface AliasVersion {
  /** From 1. Each change of the target has the next number. */
  version: number
  /** The key of the original. */
  key: ObjectKey
  /** When the alias was set to it, in milliseconds since 1970. Later versions never have an earlier date. */
  setAt: number
}

/** A stable name for an original, which can be replaced by another original. */
export interface Alias {
  /** As returned by `parseAliasName`. */
  name: string
  /** 1 to {@link VERSIONS_MAX} versions. The first is the current target, then the previous ones, the newest first. */
  versions: readonly [AliasVersion, ...AliasVersion[]]
}

/** The number of versions that an alias retains. */
export const VERSIONS_MAX = 20

/**
 * Sets an alias to an original. The same alias is returned when this is its target already.
 *
 * @param before undefined for a new alias
 * @param change.at milliseconds since 1970
 */
export function withTarget(
  before: Alias | undefined,
  { name, key, at }: { name: string; key: ObjectKey; at: number },
): Alias {
  const versions = before?.versions ?? []
  const [current] = versions
  if (before && current?.key === key) return before
  // The clock of another machine may be ahead.
  const setAt = Math.max(at, current?.setAt ?? 0)
  const next = { version: (current?.version ?? 0) + 1, key, setAt }
  return { name, versions: [next, ...versions.slice(0, VERSIONS_MAX - 1)] }
}

/** Finds the version that a rollback restores: the given one, or the previous one; undefined when there is none. */
export function versionToRestore({ versions }: Alias, version: number | undefined): AliasVersion | undefined {
  return version === undefined ? versions[1] : versions.find((one) => one.version === version)
}
