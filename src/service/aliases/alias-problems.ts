import { VERSIONS_MAX } from '../../core/aliases/alias.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import { Problem } from '../../core/problem.ts'

/** 404: there is no alias with this name. */
export function aliasNotFound(): Problem {
  return new Problem({ status: 404, code: 'alias_not_found', detail: 'This alias does not exist.' })
}

/** 404: the alias exists, but its file was deleted. */
export function aliasTargetMissing(): Problem {
  return new Problem({
    status: 404,
    code: 'alias_target_missing',
    detail: 'The file of this alias was deleted. Set the alias to another file, or restore the file.',
  })
}

/** 404: the URL names another type than that of the alias's file. */
export function aliasOfOtherType({ type, received }: { type: MediaGroup; received: MediaGroup }): Problem {
  return new Problem({
    status: 404,
    code: 'alias_of_other_type',
    detail: `The file of this alias is of type ${type}, not ${received}: use /v1/${type}/alias/.`,
    members: { expected: type, received },
  })
}

/** 404: the alias has no such version to restore. */
export function aliasVersionNotFound(version: number | undefined): Problem {
  const detail =
    version === undefined
      ? 'This alias has no previous version.'
      : `This alias has no version ${version}. It retains its last ${VERSIONS_MAX} versions.`
  return new Problem({ status: 404, code: 'alias_version_not_found', detail })
}
