import type { Client } from '../../core/clients/client.ts'
import { type Grant, isAllWithin } from '../../core/clients/grant.ts'
import { needsSignedUrl } from '../../core/clients/signed-delivery.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { assetNotFound } from '../../core/problem.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import { namedFiles } from '../../pipeline/plan/referenced-files.ts'

/** @throws Problem 404 for a parameter that names a file outside of the folder that the request is limited to */
export function checkNamed({ steps }: Plan, within: Pick<Grant, 'folder'>): void {
  if (within.folder === undefined) return
  for (const { param, key } of namedFiles(steps))
    if (!isAllWithin(parsePath(key, { param }), within)) throw assetNotFound(param, key)
}

/**
 * For requests without a signature and without a secret: they must not show a private file as a part of a public one.
 *
 * @throws Problem 404 for a parameter that names a file that needs a signed URL
 */
export function checkNamedPublic({ steps }: Plan, client: Client): void {
  for (const { param, key } of namedFiles(steps))
    if (needsSignedUrl(client, key)) throw assetNotFound(param, key)
}
