import { deletion, restoration } from '../../files/batch-request.ts'
import { deletedDerivatives, deletedFile, deletionReport, restorationReport } from '../../wire/outcomes.ts'
import type { Endpoint } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { flag } from '../parameters.ts'

const EXAMPLE_PATH = { path: EXAMPLE.key }

/** Deletion and restoration of files. */
export const DELETION: readonly Endpoint[] = [
  {
    route: 'DELETE /v1/upload/*path',
    id: 'deleteFile',
    tag: 'Files',
    summary: 'Delete a file and its derivatives',
    access: 'secret',
    parameters: [flag('now', 'Deletes permanently, also with soft delete.')],
    responses: {
      200: {
        description: 'The file was deleted.',
        content: { 'application/json': { schema: deletedFile } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'photo',
        summary: 'Delete a photo',
        parameters: EXAMPLE_PATH,
        status: 200,
        response: { s3PathOriginal: EXAMPLE.key, derivatives: 3 },
      },
    ],
  },
  {
    route: 'DELETE /v1/files/*path/derivatives',
    id: 'deleteDerivatives',
    tag: 'Files',
    summary: 'Delete the derivatives of a file, but not the file',
    access: 'secret',
    responses: {
      200: {
        description: 'The derivatives were deleted.',
        content: { 'application/json': { schema: deletedDerivatives } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'photo',
        summary: 'Delete the derivatives of a photo',
        parameters: EXAMPLE_PATH,
        status: 200,
        response: { s3PathOriginal: EXAMPLE.key, derivatives: 3, bytes: 81920 },
      },
    ],
  },
  {
    route: 'POST /v1/files/delete',
    id: 'deleteFiles',
    tag: 'Files',
    summary: 'Delete several files, or a folder',
    description: 'The body has exactly one of `paths`, `prefix` and `all`.',
    access: 'secret',
    body: { 'application/json': { schema: deletion } },
    responses: {
      200: {
        description: 'The outcome for each file.',
        content: { 'application/json': { schema: deletionReport } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'paths',
        summary: 'Delete files by their paths',
        body: { paths: [EXAMPLE.key] },
        status: 200,
        response: { results: [{ path: EXAMPLE.key, status: 'deleted' }], more: false },
      },
    ],
  },
  {
    route: 'POST /v1/files/restore',
    id: 'restoreFiles',
    tag: 'Files',
    summary: 'Restore deleted files',
    access: 'secret',
    body: { 'application/json': { schema: restoration } },
    responses: {
      200: {
        description: 'The outcome for each file.',
        content: { 'application/json': { schema: restorationReport } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'missing',
        summary: 'A file that does not exist',
        body: { paths: ['image/jpeg/none.jpg'] },
        status: 200,
        response: {
          results: [
            {
              path: 'image/jpeg/none.jpg',
              status: 'error',
              code: 'file_not_found',
              detail: 'This file does not exist.',
            },
          ],
        },
      },
    ],
  },
]
