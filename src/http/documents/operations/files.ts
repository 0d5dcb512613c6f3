import { MEDIA_GROUPS } from '../../../core/media/groups.ts'
import { fileChange } from '../../files/merge-patch.ts'
import { folderList } from '../../wire/folders.ts'
import { fileList, fileWithDerivatives } from '../../wire/record.ts'
import type { Endpoint } from '../endpoint.ts'
import { EXAMPLE, EXAMPLE_FILE } from '../examples.ts'
import { flag, header, pageParameters, query } from '../parameters.ts'

const DETAILS = {
  200: {
    description: 'The file with its derivatives.',
    content: { 'application/json': { schema: fileWithDerivatives } },
    headers: ['ETag', 'Cache-Control'],
  },
} as const

const SORTS = ['uploaded', 'created', 'key', 'name', 'size'].flatMap((name) => [name, `-${name}`])
const EXAMPLE_PATH = { path: EXAMPLE.key }
const DAY = { type: 'string', format: 'date' }

/** Lists and details of stored files. */
export const FILES: readonly Endpoint[] = [
  {
    route: 'GET /v1/files',
    id: 'listFiles',
    tag: 'Files',
    summary: 'List files',
    access: 'secret',
    parameters: [
      query('prefix', 'Only files in this folder and its subfolders.'),
      flag('direct', 'Only files in the folder itself, not in its subfolders.'),
      query('type', 'Only files of this type.', { type: 'string', enum: MEDIA_GROUPS }),
      query('search', 'Only files with this text in their name.', {
        type: 'string',
        minLength: 1,
        maxLength: 255,
      }),
      query('tag', 'Only files with this tag.', { type: 'string', minLength: 1, maxLength: 255 }),
      query('from', 'Only files stored on this day or later, in UTC.', DAY),
      query('to', 'Only files stored on this day or earlier, in UTC.', DAY),
      query('sort', 'Order of the files.', {
        type: 'string',
        enum: SORTS,
        default: '-uploaded',
      }),
      query('order', 'Direction of the order, instead of a hyphen in `sort`.', {
        type: 'string',
        enum: ['asc', 'desc'],
      }),
      ...pageParameters('files'),
      flag(
        'count',
        'The number of files in all pages. Not together with `type`, `tag`, `search`, `from` or `to`.',
      ),
      flag('deleted', 'Deleted files that can be restored, instead of stored files.'),
    ],
    responses: {
      200: {
        description: 'A page of the list.',
        content: { 'application/json': { schema: fileList } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'newest',
        summary: 'The newest image',
        parameters: { type: 'image', limit: '1' },
        status: 200,
        response: { files: [EXAMPLE_FILE], cursor: null },
      },
    ],
  },
  {
    route: 'GET /v1/folders',
    id: 'listFolders',
    tag: 'Files',
    summary: 'List the folders directly below a folder',
    access: 'secret',
    parameters: [query('prefix', 'The folder above. Default: the top level.'), ...pageParameters('folders')],
    responses: {
      200: {
        description: 'A page of the list, sorted by name.',
        content: { 'application/json': { schema: folderList } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'empty',
        summary: 'A folder without subfolders',
        parameters: { prefix: 'shop/2026' },
        status: 200,
        response: { folders: [], cursor: null },
      },
    ],
  },
  {
    route: 'GET /v1/files/*path',
    id: 'getFile',
    tag: 'Files',
    summary: 'Get one file with its derivatives',
    access: 'secret',
    responses: DETAILS,
    examples: [
      {
        id: 'photo',
        summary: 'A photo without derivatives',
        parameters: EXAMPLE_PATH,
        status: 200,
        response: { ...EXAMPLE_FILE, derivatives: [] },
      },
    ],
  },
  {
    route: 'PATCH /v1/files/*path',
    id: 'updateFile',
    tag: 'Files',
    summary: 'Change the name, tags, metadata and focal point of a file',
    description: 'The body is a JSON merge patch (RFC 7396).',
    access: 'secret',
    parameters: [header('If-Match', 'Changes the file only if this is its current `ETag`.')],
    body: {
      'application/merge-patch+json': { schema: fileChange },
      'application/json': { schema: fileChange },
    },
    responses: DETAILS,
    examples: [
      {
        id: 'annotate',
        summary: 'Set tags and metadata',
        parameters: EXAMPLE_PATH,
        mediaType: 'application/merge-patch+json',
        body: { tags: ['holiday'], metadata: { album: 'Lisbon' } },
        status: 200,
        response: { ...EXAMPLE_FILE, derivatives: [] },
      },
      {
        id: 'focalPoint',
        summary: 'Set the focal point of an image',
        parameters: EXAMPLE_PATH,
        mediaType: 'application/merge-patch+json',
        body: { focalPoint: { x: 0.3, y: 0.4 } },
        status: 200,
        response: { ...EXAMPLE_FILE, focalPoint: { x: 0.3, y: 0.4 }, derivatives: [] },
      },
    ],
  },
]
