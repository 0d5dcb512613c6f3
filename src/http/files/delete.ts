import { z } from 'zod'
import type { RemoveDerivatives } from '../../service/derivatives/remove.ts'
import type { Removals } from '../../service/originals/delete.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { flagParameter } from '../documents/parameters.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { flagOf, queryPairs } from '../request.ts'
import { instant, iso } from '../wire/instant.ts'
import { EXAMPLE_PATH, pathIn } from './file.ts'

const deletedFile = replyOf('DeletedFile', 'The deleted file.', {
  s3PathOriginal: z.string().describe('Key of the deleted file.'),
  derivatives: z.int().describe('Number of deleted derivatives.'),
  deletedUntil: instant('Until when the file can be restored. Only with soft delete.').optional(),
})
const deletedDerivatives = replyOf('DeletedDerivatives', 'The deleted derivatives.', {
  s3PathOriginal: z.string().describe('Key of the original, which is not deleted.'),
  derivatives: z.int().describe('Number of deleted derivatives.'),
  bytes: z.int().describe('Their size in bytes.'),
})

export const deleteFile = endpoint({
  route: 'DELETE /v1/upload/*path',
  id: 'deleteFile',
  tag: 'Files',
  summary: 'Delete a file and its derivatives',
  access: { secret: 'manage' },
  parameters: [flagParameter('now', 'Deletes permanently, also with soft delete.')],
  responses: { 200: json(deletedFile, 'The file was deleted.') },
  problems: ['400 bad_parameter', '400 bad_path', '404 file_not_found'],
  audit: 'file.delete',
  examples: [
    {
      id: 'photo',
      summary: 'Delete a photo',
      parameters: EXAMPLE_PATH,
      status: 200,
      response: { s3PathOriginal: EXAMPLE.key, derivatives: 3 },
    },
  ],

  async handle({ removals }: { removals: Removals }, { req, caller }) {
    const isPermanent = flagOf(queryPairs(req), 'now')
    const { key, derivatives, until } = await removals.remove(caller.client, pathIn(req, caller), isPermanent)
    const deleted: z.input<typeof deletedFile> = {
      s3PathOriginal: key,
      derivatives,
      ...(until === undefined ? {} : { deletedUntil: iso(until) }),
    }
    return { json: deleted }
  },
})

export const deleteDerivatives = endpoint({
  route: 'DELETE /v1/files/*path/derivatives',
  id: 'deleteDerivatives',
  tag: 'Files',
  summary: 'Delete the derivatives of a file, but not the file',
  access: { secret: 'manage' },
  responses: { 200: json(deletedDerivatives, 'The derivatives were deleted.') },
  problems: ['400 bad_path', '404 file_not_found'],
  audit: 'derivatives.delete',
  examples: [
    {
      id: 'photo',
      summary: 'Delete the derivatives of a photo',
      parameters: EXAMPLE_PATH,
      status: 200,
      response: { s3PathOriginal: EXAMPLE.key, derivatives: 3, bytes: 81920 },
    },
  ],

  async handle({ removeDerivatives }: { removeDerivatives: RemoveDerivatives }, { req, caller }) {
    const { key, derivatives, bytes } = await removeDerivatives(caller.client, pathIn(req, caller))
    const deleted: z.input<typeof deletedDerivatives> = { s3PathOriginal: key, derivatives, bytes }
    return { json: deleted }
  },
})
