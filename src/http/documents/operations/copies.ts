import { copying, moving } from '../../moves/request.ts'
import { copyReport, moveReport } from '../../wire/copies.ts'
import type { Endpoint, Success } from '../endpoint.ts'

const MISSING = 'image/jpeg/none.jpg'
const FAILED = {
  path: MISSING,
  status: 'error',
  code: 'file_not_found',
  detail: 'This file does not exist.',
}

/** The response for a file that was moved. */
export const MOVED: Readonly<Record<number, Success>> = {
  308: {
    description: 'The new URL of a file that was moved with `redirect`.',
    headers: ['Location', 'Cache-Control'],
  },
}

/** Copies and moves of files. */
export const COPIES: readonly Endpoint[] = [
  {
    route: 'POST /v1/files/copy',
    id: 'copyFiles',
    tag: 'Files',
    summary: 'Copy files',
    description:
      'The bytes are copied within the bucket. A copy has the name, tags and metadata of its source.',
    access: 'secret',
    body: { 'application/json': { schema: copying } },
    responses: {
      200: {
        description: 'The outcome for each file.',
        content: { 'application/json': { schema: copyReport } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'missing',
        summary: 'A file that does not exist',
        body: { files: [{ from: MISSING, to: 'archive' }] },
        status: 200,
        response: { results: [FAILED] },
      },
    ],
  },
  {
    route: 'POST /v1/files/move',
    id: 'moveFiles',
    tag: 'Files',
    summary: 'Move files to other folders',
    description:
      'With `redirect`, the former delivery URLs return 308 to the new ones until that time has passed.',
    access: 'secret',
    body: { 'application/json': { schema: moving } },
    responses: {
      200: {
        description: 'The outcome for each file.',
        content: { 'application/json': { schema: moveReport } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'missing',
        summary: 'A file that does not exist',
        body: { files: [{ from: MISSING, to: 'archive', redirect: '7d' }] },
        status: 200,
        response: { results: [FAILED] },
      },
    ],
  },
]
